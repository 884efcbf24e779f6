package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockLostEvent;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.LossCause;
import io.holdfast.lock.engine.AcquisitionObserver.IfRefused;
import io.holdfast.lock.spi.TransactionBoundary;
import io.holdfast.lock.spi.observation.AcquireOutcome;
import io.holdfast.lock.spi.observation.LockObservation;
import io.holdfast.lock.spi.observation.LockObserver;
import io.holdfast.lock.spi.observation.RenewalOutcome;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An engine on a scripted store and a clock that only the test advances. Asynchronous
 * acquisitions run on the test's own thread.
 */
final class EngineFixture {

	static final LockName LOCK = LockName.of("stock", "42");

	final ManualTime time = new ManualTime();

	final FakeBackend backend = new FakeBackend();

	final Record record = new Record();

	final LockEngine engine;

	EngineFixture() {
		this(EngineSettings.DEFAULTS, TransactionBoundary.NONE);
	}

	EngineFixture(EngineSettings settings, TransactionBoundary boundary) {
		this(settings, boundary, Runnable::run);
	}

	/**
	 * Creates an engine.
	 * @param threads runs asynchronous acquisitions, and the code of their callers
	 */
	EngineFixture(EngineSettings settings, TransactionBoundary boundary, Executor threads) {
		this.engine = new LockEngine(new LockBackends(List.of(this.backend), "fake"), settings, boundary, this.record,
				this.time, threads, () -> {
				});
	}

	static LockRequest.Builder request() {
		return LockRequest.forLock(LOCK);
	}

	/** Returns the observer of an acquisition that has started. */
	static AcquisitionObserver started(EngineContext context, ResolvedRequest request) {
		AcquisitionObserver observer = new AcquisitionObserver(context.observer(),
				new FakeTicket(context.queues(), request, context.time().nanos(), Runnable::run, () -> {
				}));
		observer.started(IfRefused.FAIL);
		return observer;
	}

	CompletableFuture<LockHandle> acquire(LockRequest.Builder request) {
		return this.engine.acquireAsync(request.build()).toCompletableFuture();
	}

	LockHandle acquired(LockRequest.Builder request) {
		CompletableFuture<LockHandle> handle = acquire(request);
		assertThat(handle).isCompleted();
		return handle.join();
	}

	void assertNothingLeft() {
		assertThat(this.engine.context().queues().size()).as("local lines").isZero();
		assertThat(this.engine.context().watchdog().size()).as("leases watched").isZero();
		assertThat(this.engine.context().registry().held()).as("leases held").isEmpty();
		assertThat(this.engine.context().registry().waiting()).as("acquisitions").isEmpty();
		assertThat(this.backend.owners).as("locks in the store").isEmpty();
	}

	/** Records the notifications that the engine sends to its observer. */
	static final class Record implements LockObserver {

		final List<AcquireOutcome> outcomes = new Recording<>();

		final List<RenewalOutcome> renewals = new Recording<>();

		final List<Duration> delays = new Recording<>();

		final List<LockLostEvent> losses = new Recording<>();

		final List<Duration> holds = new Recording<>();

		/** What the observations of single acquisitions were notified of. */
		final List<String> followed = new Recording<>();

		int waiting;

		int refusedCommits;

		int handoffs;

		/** Runs while the lease is neither released nor passed on yet. */
		volatile Runnable whenHoldHasEnded = () -> {
		};

		/** Thrown at the next handoff, like an error in the middle of it. */
		@Nullable Error failure;

		@Override
		public LockObservation observe(LockName lock, String backend) {
			return new LockObservation() {
				@Override
				public void started() {
					follow("started");
				}

				@Override
				public void granted(AcquireOutcome outcome, Duration waited, FencingToken token) {
					follow("granted");
				}

				@Override
				public void lost(LossCause cause) {
					follow("lost");
				}

				@Override
				public void released(Duration held) {
					follow("released");
					Record.this.whenHoldHasEnded.run();
				}
			};
		}

		private synchronized void follow(String what) {
			this.followed.add(what);
		}

		@Override
		public synchronized void acquiring(LockName lock, String backend) {
			this.waiting++;
		}

		@Override
		public synchronized void acquired(LockName lock, String backend, AcquireOutcome outcome, Duration waited,
				Duration lease) {
			this.waiting--;
			this.outcomes.add(outcome);
		}

		@Override
		public synchronized void released(LockName lock, String backend, Duration held, Duration lease) {
			this.holds.add(held);
		}

		@Override
		public synchronized void handedOff(LockName lock, String backend) {
			this.handoffs++;
			if (this.failure != null) {
				throw this.failure;
			}
		}

		@Override
		public synchronized void renewing(LockName lock, String backend, Duration late) {
			this.delays.add(late);
		}

		@Override
		public synchronized void renewed(LockName lock, String backend, RenewalOutcome outcome) {
			this.renewals.add(outcome);
		}

		@Override
		public synchronized void commitRefused(LockName lock, String backend) {
			this.refusedCommits++;
		}

		@Override
		public synchronized void lost(LockLostEvent event) {
			this.losses.add(event);
		}

	}

}
