package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.jetbrains.lincheck.datastructures.Validate;

import io.holdfast.lock.LockLostEvent;
import io.holdfast.lock.LockLostException;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.BackendCapabilities;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.ManagedHold.Checkpoint;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.spi.TransactionBoundary;
import io.holdfast.lock.spi.observation.LockObserver;
import io.holdfast.lock.support.DurationText;

/**
 * Explores the interleavings of one hold's re-entries, releases and checks with its
 * renewals and with revocation by the store. Results must match a sequential execution
 * ({@link SequentialHold}). The store and the listeners must receive exactly the expected
 * calls.
 */
public class HoldModel {

	private static final boolean THOROUGH = Boolean.getBoolean("thorough");

	static final int THREADS = 8;

	private static final BackendCapabilities CAPABILITIES = FakeBackend.capableOf();

	private static final Duration LEASE = Duration.ofSeconds(30);

	static final Duration INTERVAL = LEASE.dividedBy(3);

	static final Duration VALIDITY = LEASE.minusMillis(300 + 2);

	static final Duration PAUSE = Duration.ofSeconds(20);

	private final ManualTime time = new ManualTime();

	private final Store store = new Store();

	private final AtomicInteger lossesObserved = new AtomicInteger();

	private final EngineContext context = context();

	private final Hold outer = hold();

	/** Each element is accessed by its own thread only. */
	private final Hold[] inner = new Hold[THREADS];

	private final AtomicInteger open = new AtomicInteger(1);

	private final AtomicInteger listeners = new AtomicInteger();

	private final AtomicInteger listenersNotified = new AtomicInteger();

	/** The ticket is never admitted: the local wait queue has a test of its own. */
	private Hold hold() {
		LockRequest request = LockRequest.forLock(LockName.of("stock")).leaseTime(LEASE).build();
		ResolvedRequest terms = ResolvedRequest
			.of(request, new LockBackends(List.of(this.store), "model"), EngineSettings.DEFAULTS)
			.get(0);
		Claim claim = new Claim(terms.lock(), OwnerId.random(), terms.mode(), LEASE, true, Duration.ZERO, false);
		LocalWaitQueues.Ticket ticket = new FakeTicket(this.context.queues(), terms, 0, Runnable::run, () -> {
		});
		Lease lease = StoreLease.of(this.context, terms, new Grant(claim, 1, LEASE, this.store.revoked), 0, false)
			.start(terms, ticket, 0, EngineFixture.started(this.context, terms));
		return new Hold(lease, new ClosableHold.Rules(TransactionBoundary.NONE, false, Runnable::run));
	}

	private EngineContext context() {
		LockObserver observer = new LockObserver() {
			@Override
			public void lost(LockLostEvent event) {
				HoldModel.this.lossesObserved.incrementAndGet();
			}
		};
		EngineSettings settings = EngineSettings.DEFAULTS;
		return new EngineContext(settings, this.time, new OwnerIds(), new LocalWaitQueues(this.time),
				new ReleasesInProgress(), new Watchdog(this.time, settings, observer, Runnable::run),
				new ReleaseRetrier(this.time, settings, Runnable::run), new HoldRegistry(), observer, Runnable::run);
	}

	@Operation
	public boolean enter(@Param(gen = ThreadIdGen.class) int thread) {
		if (this.inner[thread] != null) {
			return false;
		}
		try {
			this.inner[thread] = this.outer.reenter(Duration.ZERO);
		}
		catch (LockLostException ex) {
			return false;
		}
		if (this.inner[thread] == null) {
			return false;
		}
		this.open.incrementAndGet();
		return this.inner[thread].fencingToken().equals(this.outer.fencingToken());
	}

	@Operation
	public void leave(@Param(gen = ThreadIdGen.class) int thread) {
		if (this.inner[thread] != null) {
			this.open.decrementAndGet();
			this.inner[thread].close();
			this.inner[thread] = null;
		}
	}

	@Operation(runOnce = true)
	public void leaveOuter() {
		this.open.decrementAndGet();
		this.outer.close();
	}

	@Operation
	public boolean held(@Param(gen = ThreadIdGen.class) int thread) {
		Hold hold = this.inner[thread];
		return ((hold != null) ? hold : this.outer).isHeld();
	}

	@Operation
	public boolean commit() {
		try {
			this.outer.verify(Checkpoint.COMMIT);
			return true;
		}
		catch (LockLostException ex) {
			return false;
		}
	}

	@Operation
	public void listen() {
		this.listeners.incrementAndGet();
		this.outer.onLost((event) -> this.listenersNotified.incrementAndGet());
	}

	@Operation(nonParallelGroup = "time")
	public void renewed() {
		timePasses(Answer.RENEWED);
	}

	@Operation(nonParallelGroup = "time")
	public void refused() {
		timePasses(Answer.REFUSED);
	}

	@Operation(nonParallelGroup = "time")
	public void notAnswered() {
		timePasses(Answer.UNKNOWN);
	}

	/** Advances the time until a renewal is due, and sets the answer of the store. */
	private void timePasses(Answer answer) {
		this.store.answer = answer;
		this.time.advance(INTERVAL);
	}

	@Operation(nonParallelGroup = "time")
	public void pause() {
		this.time.pause(PAUSE);
	}

	@Operation(runOnce = true)
	public void revoke() {
		this.store.gone.set(true);
		this.store.revoked.complete(null);
	}

	@Validate
	public void notificationsAreTrue() {
		boolean lost = this.outer.lease().lost();
		require(this.lossesObserved.get() == (lost ? 1 : 0), "observers are notified once of a loss");
		require(this.listenersNotified.get() == (lost ? this.listeners.get() : 0), "one notification per listener");
		require(!this.store.releasedWhileInUse.get(), "nothing is released while it is in use");
		require(!this.store.renewedAfterRelease.get(), "nothing is renewed after its release");
		require(this.store.releases.get() <= 1, "a lease is released once");
		boolean over = lost || this.open.get() == 0;
		require(lost || this.store.releases.get() == (over ? 1 : 0), "the last holder releases the lease");
		require(this.context.watchdog().size() == (over ? 0 : 1), "a lease that has ended is not watched");
	}

	private static void require(boolean fact, String description) {
		if (!fact) {
			throw new IllegalStateException("violated: " + description);
		}
	}

	/** One-time initialization must not happen during an exploration. */
	private static void initializeClasses() {
		HoldModel warmUp = new HoldModel();
		warmUp.listen();
		warmUp.notAnswered();
		warmUp.pause();
		warmUp.renewed();
		warmUp.leaveOuter();
		warmUp.notificationsAreTrue();
	}

	/** Fails unless every interleaving that is explored is linearizable. */
	static void explore() {
		initializeClasses();
		new ModelCheckingOptions().threads(2)
			.actorsPerThread(2)
			.actorsBefore(1)
			.actorsAfter(1)
			.iterations(THOROUGH ? 100 : 2)
			.invocationsPerIteration(THOROUGH ? 500 : 25)
			// longer than a busy machine needs; slowness must not be reported as a hang
			.invocationTimeout$lincheck(TimeUnit.MINUTES.toMillis(2))
			.minimizeFailedScenario(false)
			.sequentialSpecification(SequentialHold.class)
			.addGuarantee(ManagedStrategyGuaranteeKt.forClasses(HoldModel::hasNoStateToShare).allMethods().ignore())
			.check(HoldModel.class);
	}

	/** Excludes texts, durations and logs: exploring them would take most of the time. */
	static boolean hasNoStateToShare(String type) {
		return Stream
			.of("org.apache.commons.logging.", "ch.qos.logback.", "org.slf4j.", "java.time.", "java.lang.String",
					"java.util.Formatter", "java.util.UUID", "java.security.", OwnerId.class.getName(),
					OwnerIds.class.getName(), ResolvedRequest.class.getName(), DurationText.class.getName(),
					LoggingLockObserver.class.getName(), LockName.class.getName())
			.anyMatch(type::startsWith);
	}

	/** The answer of the store to a renewal. */
	enum Answer {

		RENEWED, REFUSED, UNKNOWN

	}

	/**
	 * A store that answers immediately and records requests that it should not receive.
	 */
	private final class Store implements LockBackend {

		private final CompletableFuture<Void> revoked = new CompletableFuture<>();

		private final AtomicBoolean gone = new AtomicBoolean();

		private final AtomicInteger releases = new AtomicInteger();

		private final AtomicBoolean releasedWhileInUse = new AtomicBoolean();

		private final AtomicBoolean renewedAfterRelease = new AtomicBoolean();

		private volatile Answer answer = Answer.RENEWED;

		@Override
		public String name() {
			return "model";
		}

		@Override
		public BackendCapabilities capabilities() {
			return CAPABILITIES;
		}

		@Override
		public CompletionStage<AcquireResult> tryAcquire(Claim claim) {
			return CompletableFuture
				.completedFuture(new AcquireResult.Acquired(new Grant(claim, 1, claim.leaseTime(), this.revoked)));
		}

		@Override
		public CompletionStage<List<RenewResult>> renew(List<Grant> grants) {
			if (this.releases.get() > 0) {
				this.renewedAfterRelease.set(true);
			}
			return CompletableFuture.completedFuture(List.of(switch (this.answer) {
				case RENEWED -> new RenewResult.Renewed(LEASE);
				case REFUSED -> new RenewResult.Refused();
				case UNKNOWN -> new RenewResult.Indeterminate(new TimeoutException("lost"));
			}));
		}

		@Override
		public CompletionStage<ReleaseResult> release(Grant grant) {
			if (HoldModel.this.open.get() > 0 && !HoldModel.this.outer.lease().lost()) {
				this.releasedWhileInUse.set(true);
			}
			this.releases.incrementAndGet();
			return CompletableFuture
				.completedFuture(this.gone.get() ? new ReleaseResult.NotHeld() : new ReleaseResult.Released());
		}

		@Override
		public CompletionStage<Void> abandon(Claim claim) {
			return CompletableFuture.completedFuture(null);
		}

	}

}
