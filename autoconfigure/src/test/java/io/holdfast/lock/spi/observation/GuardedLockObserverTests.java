package io.holdfast.lock.spi.observation;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.turbo.TurboFilter;
import ch.qos.logback.core.spi.FilterReply;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import org.slf4j.Marker;

import org.springframework.beans.BeanUtils;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockLostEvent;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LossCause;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link GuardedLockObserver}.
 */
class GuardedLockObserverTests {

	private static final LockName LOCK = LockName.of("stock", "42");

	private static final LockLostEvent LOSS = new LockLostEvent(LOCK, "fake", new FencingToken(1), LossCause.EXPIRED);

	private final List<String> notified = new ArrayList<>();

	@Test
	void emptyListIsTheNoOpObserver() {
		assertThat(LockObserver.all(List.of())).isSameAs(LockObserver.NONE);
	}

	@Test
	void observersAreNotifiedInOrder() {
		LockObserver all = LockObserver.all(List.of(new Observer("first"), new Observer("second")));
		all.acquiring(LOCK, "fake");
		all.acquired(LOCK, "fake", AcquireOutcome.ACQUIRED, Duration.ZERO, Duration.ZERO);
		all.lost(LOSS);
		assertThat(this.notified).containsExactly("first: acquiring", "second: acquiring", "first: acquired",
				"second: acquired", "first: lost", "second: lost");
	}

	@Test
	void throwingObserverDoesNotStopTheOthers() {
		LockObserver all = LockObserver.all(List.of(new LockObserver() {
			@Override
			public void lost(LockLostEvent event) {
				throw new IllegalStateException("boom");
			}
		}, new LockObserver() {
			@Override
			public void lost(LockLostEvent event) {
				throw new NoClassDefFoundError("boom");
			}
		}, new Observer("next")));
		all.lost(LOSS);
		assertThat(this.notified).containsExactly("next: lost");
	}

	/** The observer that logs at DEBUG fails for the same reason. */
	@ParameterizedTest
	@ValueSource(classes = { IllegalStateException.class, NoClassDefFoundError.class })
	void throwingAppenderDoesNotReachTheLock(Class<? extends Throwable> failureOfLog) {
		Logger log = (Logger) LoggerFactory.getLogger(GuardedLockObserver.class);
		TurboFilter full = new TurboFilter() {
			@Override
			public FilterReply decide(Marker marker, Logger logger, Level level, String format, Object[] parameters,
					Throwable failure) {
				if (logger == log) {
					GuardedLockObserverTests
						.<RuntimeException>throwUndeclared(BeanUtils.instantiateClass(failureOfLog));
				}
				return FilterReply.NEUTRAL;
			}
		};
		log.getLoggerContext().addTurboFilter(full);
		try {
			LockObserver.all(List.of(new Broken(), new Observer("next"))).acquiring(LOCK, "fake");
		}
		finally {
			log.getLoggerContext().getTurboFilterList().remove(full);
		}
		assertThat(this.notified).containsExactly("next: acquiring");
	}

	/** Kotlin throws checked exceptions undeclared. */
	@Test
	void checkedExceptionOfAnObserverIsNotPropagated() {
		LockObserver all = LockObserver.all(List.of(new Broken(), new Observer("next")));
		all.acquiring(LOCK, "fake");
		all.acquired(LOCK, "fake", AcquireOutcome.ACQUIRED, Duration.ZERO, Duration.ZERO);
		all.released(LOCK, "fake", Duration.ZERO, Duration.ZERO);
		all.observe(LOCK, "fake").started();
		all.lost(LOSS);
		assertThat(this.notified).containsExactly("next: acquiring", "next: acquired", "next: lost");
	}

	@Test
	void interruptInAnObserverIsKept() {
		LockObserver.all(List.of(new Observer("first"), new LockObserver() {
			@Override
			public void lost(LockLostEvent event) {
				GuardedLockObserverTests.<RuntimeException>throwUndeclared(new InterruptedException());
			}
		})).lost(LOSS);
		assertThat(Thread.interrupted()).isTrue();
	}

	@SuppressWarnings("unchecked")
	private static <E extends Throwable> void throwUndeclared(Throwable failure) throws E {
		throw (E) failure;
	}

	/** Fails each time, partly in the observation that it returns. */
	private static final class Broken implements LockObserver {

		@Override
		public LockObservation observe(LockName lock, String backend) {
			return new LockObservation() {
				@Override
				public void started() {
					GuardedLockObserverTests.<RuntimeException>throwUndeclared(new IOException("boom"));
				}
			};
		}

		@Override
		public void acquiring(LockName lock, String backend) {
			GuardedLockObserverTests.<RuntimeException>throwUndeclared(new IOException("boom"));
		}

		@Override
		public void acquired(LockName lock, String backend, AcquireOutcome outcome, Duration waited, Duration lease) {
			GuardedLockObserverTests.<RuntimeException>throwUndeclared(new IOException("boom"));
		}

		@Override
		public void released(LockName lock, String backend, Duration held, Duration lease) {
			GuardedLockObserverTests.<RuntimeException>throwUndeclared(new IOException("boom"));
		}

		@Override
		public void lost(LockLostEvent event) {
			GuardedLockObserverTests.<RuntimeException>throwUndeclared(new IOException("boom"));
		}

	}

	private final class Observer implements LockObserver {

		private final String name;

		Observer(String name) {
			this.name = name;
		}

		@Override
		public void acquiring(LockName lock, String backend) {
			GuardedLockObserverTests.this.notified.add(this.name + ": acquiring");
		}

		@Override
		public void acquired(LockName lock, String backend, AcquireOutcome outcome, Duration waited, Duration lease) {
			GuardedLockObserverTests.this.notified.add(this.name + ": acquired");
		}

		@Override
		public void lost(LockLostEvent event) {
			GuardedLockObserverTests.this.notified.add(this.name + ": lost");
		}

	}

}
