package io.holdfast.lock.observation;

import java.time.Duration;
import java.util.Locale;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import org.jspecify.annotations.Nullable;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LossCause;
import io.holdfast.lock.spi.observation.AcquireOutcome;
import io.holdfast.lock.spi.observation.LockObservation;
import io.holdfast.lock.spi.observation.LockObserver;

/**
 * Observes each acquisition and each hold with Micrometer, so that they are spans of the
 * trace to which their caller belongs. Without a handler for observations it does
 * nothing. Thread-safe.
 */
public final class ObservationLockObserver implements LockObserver {

	private final ObservationRegistry registry;

	private final @Nullable LockObservationConvention convention;

	/**
	 * Creates an observer.
	 * @param registry the registry of the observations
	 * @param convention names them, or {@code null} for a global convention of the
	 * registry or else the default one
	 */
	public ObservationLockObserver(ObservationRegistry registry, @Nullable LockObservationConvention convention) {
		this.registry = registry;
		this.convention = convention;
	}

	@Override
	public LockObservation observe(LockName lock, String backend) {
		return this.registry.isNoop() ? LockObservation.NONE : new Observed(lock, backend);
	}

	private Observation notStarted(LockObservationContext context) {
		LockObservationConvention own = this.convention;
		return (own != null)
				? Observation.createNotStarted(context.observed().getName(), () -> context, this.registry)
					.observationConvention(own)
				: Observation.createNotStarted(null, NamedConvention.of(context.observed()), () -> context,
						this.registry);
	}

	/** One acquisition and its hold. */
	private final class Observed implements LockObservation {

		private final LockName lock;

		private final String backend;

		/** The caller's observation, which steps on other threads would not find. */
		private final @Nullable Observation parent = ObservationLockObserver.this.registry.getCurrentObservation();

		private volatile Observation current = Observation.NOOP;

		private volatile boolean lost;

		Observed(LockName lock, String backend) {
			this.lock = lock;
			this.backend = backend;
		}

		private void start(LockObservationDocumentation observed, @Nullable FencingToken token) {
			LockObservationContext context = new LockObservationContext(observed, this.lock, this.backend);
			if (token != null) {
				context.token(token);
			}
			Observation next = notStarted(context);
			if (this.parent != null) {
				next.parentObservation(this.parent);
			}
			this.current = next.start();
		}

		private void stop(String outcome) {
			if (this.current.getContext() instanceof LockObservationContext context) {
				context.outcome(outcome);
			}
			this.current.stop();
		}

		@Override
		public void started() {
			start(LockObservationDocumentation.ACQUISITION, null);
		}

		@Override
		public void granted(AcquireOutcome outcome, Duration waited, FencingToken token) {
			if (this.current.getContext() instanceof LockObservationContext context) {
				context.token(token);
			}
			stop(text(outcome));
			start(LockObservationDocumentation.HOLD, token);
		}

		@Override
		public void notGranted(AcquireOutcome outcome, Duration waited) {
			// a caller that continues without the lock, or gave up, met no failure
			if (outcome == AcquireOutcome.TIMEOUT || outcome == AcquireOutcome.ERROR) {
				this.current.error(new LockFailure("lock not acquired: " + text(outcome)));
			}
			stop(text(outcome));
		}

		private static String text(AcquireOutcome outcome) {
			return outcome.name().toLowerCase(Locale.ROOT);
		}

		@Override
		public Scope openScope() {
			Observation.Scope scope = this.current.openScope();
			return scope::close;
		}

		@Override
		public void lost(LossCause cause) {
			this.lost = true;
			this.current.event(Observation.Event.of("lock.lost", "lock lost: " + cause));
			this.current.error(new LockFailure("lock lost: " + cause));
		}

		@Override
		public void released(Duration held) {
			stop(this.lost ? "lost" : "released");
		}

	}

	/** The default convention, which a global one of the registry replaces. */
	private static final class NamedConvention extends DefaultLockObservationConvention {

		private static final NamedConvention ACQUISITION = new NamedConvention(
				LockObservationDocumentation.ACQUISITION);

		private static final NamedConvention HOLD = new NamedConvention(LockObservationDocumentation.HOLD);

		private final LockObservationDocumentation observed;

		private NamedConvention(LockObservationDocumentation observed) {
			this.observed = observed;
		}

		static NamedConvention of(LockObservationDocumentation observed) {
			return switch (observed) {
				case ACQUISITION -> ACQUISITION;
				case HOLD -> HOLD;
			};
		}

		@Override
		public String getName() {
			return this.observed.getName();
		}

	}

	/** The error of an observation. The exception of the caller is created elsewhere. */
	private static final class LockFailure extends RuntimeException {

		private static final long serialVersionUID = 1L;

		LockFailure(String message) {
			super(message, null, false, false);
		}

	}

}
