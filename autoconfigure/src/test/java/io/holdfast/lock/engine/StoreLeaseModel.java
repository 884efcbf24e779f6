package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockLostEvent;
import io.holdfast.lock.LossCause;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.spi.observation.LockObserver;
import io.holdfast.lock.support.StripedMap;

import static io.holdfast.lock.test.EngineSettingsBuilder.settings;

/**
 * Explores the interleavings of the takeover of an idle lease with its loss and with the
 * demand of another instance, which ends it as the end of its time does. The lease is
 * taken over or released, never both, and the next holder learns of a loss.
 */
public class StoreLeaseModel {

	private static final Duration LEASE = Duration.ofSeconds(30);

	private static final boolean THOROUGH = Boolean.getBoolean("thorough");

	private final ManualTime time = new ManualTime();

	private final FakeBackend backend = new FakeBackend();

	private final CompletableFuture<Void> wanted = new CompletableFuture<>();

	private final AtomicInteger losses = new AtomicInteger();

	private final ResolvedRequest request = ResolvedRequest
		.of(EngineFixture.request().leaseTime(LEASE).build(), new LockBackends(List.of(this.backend), "fake"),
				EngineSettings.DEFAULTS)
		.get(0);

	private final EngineContext context = context();

	private final LocalWaitQueues.Ticket waiter = ticket();

	private final StoreLease lease = idleLease();

	private volatile boolean lost;

	private volatile @Nullable Lease next;

	private EngineContext context() {
		LockObserver observer = new LockObserver() {

			@Override
			public void lost(LockLostEvent event) {
				StoreLeaseModel.this.losses.incrementAndGet();
			}

		};
		EngineSettings settings = settings().sticky(Duration.ofSeconds(1)).build();
		return new EngineContext(settings, this.time, new OwnerIds(),
				new LocalWaitQueues(this.time, new StripedMap<>(1)), new ReleasesInProgress(),
				new Watchdog(this.time, settings, observer, Runnable::run),
				new ReleaseRetrier(this.time, settings, Runnable::run), new HoldRegistry(), observer, Runnable::run);
	}

	/** The waiter is notified, but its steps are operations of the model. */
	private LocalWaitQueues.Ticket ticket() {
		return new FakeTicket(this.context.queues(), this.request, 0, (step) -> {
		}, () -> {
		});
	}

	private StoreLease idleLease() {
		Claim claim = new Claim(this.request.lock(), OwnerId.random(), this.request.mode(), LEASE, true, Duration.ZERO,
				false, true);
		this.backend.owners.put(claim.lock(), claim.owner());
		LocalWaitQueues.Ticket first = ticket();
		first.enter();
		this.waiter.enter();
		StoreLease granted = StoreLease.of(this.context, this.request,
				new Grant(claim, 1, LEASE).withDemand(this.wanted), 0, false);
		granted.start(this.request, first, 0, EngineFixture.started(this.context, this.request)).endHold();
		return granted;
	}

	@Operation(runOnce = true)
	public boolean takeOver() {
		if (!this.lease.takeOver(this.request)) {
			return false;
		}
		this.next = this.lease.start(this.request, this.waiter, 0, EngineFixture.started(this.context, this.request));
		return true;
	}

	@Operation(runOnce = true)
	public void lose() {
		this.lease.lose(LossCause.REFUSED);
		this.lost = true;
	}

	@Operation(runOnce = true)
	public void demand() {
		this.wanted.complete(null);
	}

	@Validate
	public void leaseIsTakenOverOrReleased() {
		Lease taken = this.next;
		boolean released = this.backend.calls.contains("release stock:42");
		if (taken != null && released) {
			throw new IllegalStateException("violated: the lease of a holder was released");
		}
		if (taken != null && taken.lost() != this.lost) {
			throw new IllegalStateException("violated: the next holder does not know of the loss");
		}
		if (this.losses.get() > 1) {
			throw new IllegalStateException("violated: a loss was reported twice");
		}
		if (this.context.watchdog().size() > 0 && (taken == null || taken.lost()) && (released || this.lost)) {
			throw new IllegalStateException("violated: a lease is renewed after its end");
		}
	}

	/** One-time initialization must not happen during an exploration. */
	private static void initializeClasses() {
		StoreLeaseModel warmUp = new StoreLeaseModel();
		warmUp.takeOver();
		warmUp.lose();
		warmUp.demand();
		warmUp.leaseIsTakenOverOrReleased();
		new StoreLeaseModel().demand();
	}

	/** Fails unless every interleaving that is explored is linearizable. */
	static void explore() {
		initializeClasses();
		new ModelCheckingOptions().threads(3)
			.actorsPerThread(1)
			.iterations(THOROUGH ? 50 : 2)
			.invocationsPerIteration(THOROUGH ? 10_000 : 50)
			// longer than a busy machine needs; slowness must not be reported as a hang
			.invocationTimeout$lincheck(TimeUnit.MINUTES.toMillis(2))
			.minimizeFailedScenario(false)
			.addGuarantee(ManagedStrategyGuaranteeKt.forClasses(HoldModel::hasNoStateToShare).allMethods().ignore())
			.check(StoreLeaseModel.class);
	}

}
