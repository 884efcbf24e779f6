package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.engine.LocalWaitQueues.Admission;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link LocalWaitQueues}.
 */
class LocalWaitQueuesTests {

	private static final LocalWaitQueues.QueueKey KEY = new LocalWaitQueues.QueueKey("fake", EngineFixture.LOCK,
			LockMode.EXCLUSIVE);

	private final ManualTime time = new ManualTime();

	private final LocalWaitQueues queues = new LocalWaitQueues(this.time);

	private final List<String> notified = new ArrayList<>();

	@Test
	void firstCallerIsAdmittedAndTheNextIsQueued() {
		assertThat(this.queues.enter(KEY, new Caller("a"))).isEqualTo(Admission.ADMITTED);
		assertThat(this.queues.enter(KEY, new Caller("b"))).isEqualTo(Admission.QUEUED);
	}

	@Test
	void freshWaiterIsNotifiedAndMayBeOvertaken() {
		this.queues.enter(KEY, new Caller("a"));
		Caller waiter = new Caller("b");
		this.queues.enter(KEY, waiter);
		this.queues.leave(KEY);
		assertThat(this.notified).containsExactly("b: available");
		assertThat(this.queues.enter(KEY, new Caller("c"))).isEqualTo(Admission.ADMITTED);
		assertThat(this.queues.take(KEY, waiter)).isFalse();
	}

	@Test
	void waiterOfAMillisecondIsAdmittedAndCannotBeOvertaken() {
		this.queues.enter(KEY, new Caller("a"));
		this.queues.enter(KEY, new Caller("b"));
		this.time.pause(Duration.ofMillis(1));
		this.queues.leave(KEY);
		assertThat(this.notified).containsExactly("b: handed over");
		assertThat(this.queues.enter(KEY, new Caller("c"))).isEqualTo(Admission.QUEUED);
	}

	@Test
	void waiterThatAgesWhileTheLockIsAvailableIsNotOvertaken() {
		this.queues.enter(KEY, new Caller("a"));
		Caller waiter = new Caller("b");
		this.queues.enter(KEY, waiter);
		this.queues.leave(KEY);
		this.time.pause(Duration.ofMillis(1));
		assertThat(this.queues.enter(KEY, new Caller("c"))).isEqualTo(Admission.QUEUED);
		assertThat(this.queues.take(KEY, waiter)).isTrue();
	}

	@Test
	void fairWaiterIsNeverOvertaken() {
		this.queues.enter(KEY, new Caller("a"));
		this.queues.enter(KEY, new Caller("b", true, true));
		this.queues.leave(KEY);
		assertThat(this.notified).containsExactly("b: handed over");
	}

	@Test
	void nonWaitingCallerIsRejectedUnlessTheHolderIsLeaving() {
		this.queues.enter(KEY, new Caller("a"));
		assertThat(this.queues.enter(KEY, new Caller("b", false, false))).isEqualTo(Admission.REJECTED);
		this.queues.leaving(KEY);
		assertThat(this.queues.enter(KEY, new Caller("c", false, false))).isEqualTo(Admission.QUEUED);
		assertThat(this.queues.enter(KEY, new Caller("d", false, false))).isEqualTo(Admission.REJECTED);
	}

	@Test
	void withdrawalOfTheFirstWaiterNotifiesTheNext() {
		this.queues.enter(KEY, new Caller("a"));
		Caller first = new Caller("b");
		this.queues.enter(KEY, first);
		this.queues.enter(KEY, new Caller("c"));
		this.queues.leave(KEY);
		this.queues.withdraw(KEY, first);
		assertThat(this.notified).containsExactly("b: available", "c: available");
	}

	@Test
	void queueIsRemovedWithItsLastCaller() {
		this.queues.enter(KEY, new Caller("a"));
		Caller waiter = new Caller("b");
		this.queues.enter(KEY, waiter);
		this.queues.withdraw(KEY, waiter);
		assertThat(this.queues.size()).isOne();
		this.queues.leave(KEY);
		assertThat(this.queues.size()).isZero();
	}

	private final class Caller implements LocalWaitQueues.Waiter {

		private final String name;

		private final boolean waits;

		private final boolean fair;

		private final long since = LocalWaitQueuesTests.this.time.nanos();

		Caller(String name) {
			this(name, true, false);
		}

		Caller(String name, boolean waits, boolean fair) {
			this.name = name;
			this.waits = waits;
			this.fair = fair;
		}

		@Override
		public long since() {
			return this.since;
		}

		@Override
		public boolean waits() {
			return this.waits;
		}

		@Override
		public boolean fair() {
			return this.fair;
		}

		@Override
		public void onHandedOver() {
			LocalWaitQueuesTests.this.notified.add(this.name + ": handed over");
		}

		@Override
		public void onAvailable() {
			LocalWaitQueuesTests.this.notified.add(this.name + ": available");
		}

	}

}
