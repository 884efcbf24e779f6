package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.engine.LocalQueues.Admission;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link LocalQueues}.
 */
class LocalQueuesTests {

	private static final LocalQueues.Slot SLOT = new LocalQueues.Slot("fake", EngineFixture.LOCK, LockMode.EXCLUSIVE);

	private final ManualTime time = new ManualTime();

	private final LocalQueues queues = new LocalQueues(this.time);

	private final List<String> told = new ArrayList<>();

	@Test
	void firstTakesTheTurnAndTheNextStandsInLine() {
		assertThat(this.queues.enter(SLOT, new Caller("a"))).isEqualTo(Admission.TAKEN);
		assertThat(this.queues.enter(SLOT, new Caller("b"))).isEqualTo(Admission.QUEUED);
	}

	@Test
	void freshWaiterIsToldThatTheTurnIsFreeAndMayBeOvertaken() {
		this.queues.enter(SLOT, new Caller("a"));
		Caller waiter = new Caller("b");
		this.queues.enter(SLOT, waiter);
		this.queues.leave(SLOT);
		assertThat(this.told).containsExactly("b: free");
		assertThat(this.queues.enter(SLOT, new Caller("c"))).isEqualTo(Admission.TAKEN);
		assertThat(this.queues.take(SLOT, waiter)).isFalse();
	}

	@Test
	void waiterOfAMillisecondIsPassedTheTurnAndCannotBeOvertaken() {
		this.queues.enter(SLOT, new Caller("a"));
		this.queues.enter(SLOT, new Caller("b"));
		this.time.pause(Duration.ofMillis(1));
		this.queues.leave(SLOT);
		assertThat(this.told).containsExactly("b: passed");
		assertThat(this.queues.enter(SLOT, new Caller("c"))).isEqualTo(Admission.QUEUED);
	}

	@Test
	void waiterThatAgesWhileTheTurnIsFreeIsNotOvertakenAnyMore() {
		this.queues.enter(SLOT, new Caller("a"));
		Caller waiter = new Caller("b");
		this.queues.enter(SLOT, waiter);
		this.queues.leave(SLOT);
		this.time.pause(Duration.ofMillis(1));
		assertThat(this.queues.enter(SLOT, new Caller("c"))).isEqualTo(Admission.QUEUED);
		assertThat(this.queues.take(SLOT, waiter)).isTrue();
	}

	@Test
	void fairWaiterIsNeverOvertaken() {
		this.queues.enter(SLOT, new Caller("a"));
		this.queues.enter(SLOT, new Caller("b", true, true));
		this.queues.leave(SLOT);
		assertThat(this.told).containsExactly("b: passed");
	}

	@Test
	void callerWithoutPatienceIsRefusedUnlessTheTurnIsAboutToBeLeft() {
		this.queues.enter(SLOT, new Caller("a"));
		assertThat(this.queues.enter(SLOT, new Caller("b", false, false))).isEqualTo(Admission.REFUSED);
		this.queues.leaving(SLOT);
		assertThat(this.queues.enter(SLOT, new Caller("c", false, false))).isEqualTo(Admission.QUEUED);
		assertThat(this.queues.enter(SLOT, new Caller("d", false, false))).isEqualTo(Admission.REFUSED);
	}

	@Test
	void withdrawalOfTheFirstTellsTheNextOfAFreeTurn() {
		this.queues.enter(SLOT, new Caller("a"));
		Caller first = new Caller("b");
		this.queues.enter(SLOT, first);
		this.queues.enter(SLOT, new Caller("c"));
		this.queues.leave(SLOT);
		this.queues.withdraw(SLOT, first);
		assertThat(this.told).containsExactly("b: free", "c: free");
	}

	@Test
	void lineDisappearsWithItsLastCaller() {
		this.queues.enter(SLOT, new Caller("a"));
		Caller waiter = new Caller("b");
		this.queues.enter(SLOT, waiter);
		this.queues.withdraw(SLOT, waiter);
		assertThat(this.queues.size()).isOne();
		this.queues.leave(SLOT);
		assertThat(this.queues.size()).isZero();
	}

	private final class Caller implements LocalQueues.Waiter {

		private final String name;

		private final boolean patient;

		private final boolean fair;

		private final long since = LocalQueuesTests.this.time.nanos();

		Caller(String name) {
			this(name, true, false);
		}

		Caller(String name, boolean patient, boolean fair) {
			this.name = name;
			this.patient = patient;
			this.fair = fair;
		}

		@Override
		public long since() {
			return this.since;
		}

		@Override
		public boolean patient() {
			return this.patient;
		}

		@Override
		public boolean fair() {
			return this.fair;
		}

		@Override
		public void turnPassed() {
			LocalQueuesTests.this.told.add(this.name + ": passed");
		}

		@Override
		public void turnFree() {
			LocalQueuesTests.this.told.add(this.name + ": free");
		}

	}

}
