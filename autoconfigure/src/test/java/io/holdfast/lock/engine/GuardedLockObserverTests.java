package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockLostEvent;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LossCause;
import io.holdfast.lock.spi.AcquireOutcome;
import io.holdfast.lock.spi.LockObserver;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link GuardedLockObserver}.
 */
class GuardedLockObserverTests {

	private static final LockLostEvent LOSS = new LockLostEvent(EngineFixture.LOCK, "fake", new FencingToken(1),
			LossCause.EXPIRED);

	private final List<String> notified = new ArrayList<>();

	@Test
	void emptyListIsTheNoOpObserver() {
		assertThat(GuardedLockObserver.of(List.of())).isSameAs(LockObserver.NONE);
	}

	@Test
	void lossObserverReceivesNothingElse() {
		LockObserver all = GuardedLockObserver.of(List.of(new Observer("losses", false), new Observer("all", true)));
		all.acquiring(EngineFixture.LOCK, "fake");
		all.acquired(EngineFixture.LOCK, "fake", AcquireOutcome.ACQUIRED, Duration.ZERO, Duration.ZERO);
		all.lost(LOSS);
		assertThat(this.notified).containsExactly("all: acquiring", "all: acquired", "losses: lost", "all: lost");
	}

	@Test
	void throwingObserverDoesNotStopTheOthers() {
		LockObserver all = GuardedLockObserver.of(List.of(new LockObserver() {
			@Override
			public void lost(LockLostEvent event) {
				throw new IllegalStateException("boom");
			}
		}, new LockObserver() {
			@Override
			public void lost(LockLostEvent event) {
				throw new NoClassDefFoundError("boom");
			}
		}, new Observer("next", true)));
		all.lost(LOSS);
		assertThat(this.notified).containsExactly("next: lost");
	}

	private final class Observer implements LockObserver {

		private final String name;

		private final boolean everything;

		Observer(String name, boolean everything) {
			this.name = name;
			this.everything = everything;
		}

		@Override
		public boolean observesEveryHold() {
			return this.everything;
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
