package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.holdfast.lock.LockRequest;
import io.holdfast.lock.engine.LocalWaitQueues.State;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link LocalWaitQueues}.
 */
class LocalWaitQueuesTests {

	private final LockBackends backends = new LockBackends(List.of(new FakeBackend()), "fake");

	private final ManualTime time = new ManualTime();

	private final LocalWaitQueues queues = new LocalWaitQueues(this.time);

	/** Callers that were admitted after waiting. */
	private final List<String> admitted = new ArrayList<>();

	@Test
	void firstCallerIsAdmittedAndTheNextIsQueued() {
		assertThat(new Caller("a").enter()).isEqualTo(State.ADMITTED);
		assertThat(new Caller("b").enter()).isEqualTo(State.QUEUED);
	}

	@Test
	void freshWaiterIsNotifiedAndMayBeOvertaken() {
		Caller holder = entered(new Caller("a"));
		Caller waiter = entered(new Caller("b"));
		holder.ticket.leave();
		assertThat(waiter.steps).hasSize(1);
		assertThat(new Caller("c").enter()).isEqualTo(State.ADMITTED);
		waiter.runSteps();
		assertThat(this.admitted).isEmpty();
	}

	@Test
	void freshWaiterTakesThePlaceOnce() {
		Caller holder = entered(new Caller("a"));
		Caller first = entered(new Caller("b"));
		Caller waiter = entered(new Caller("c"));
		holder.ticket.leave();
		first.ticket.leave();
		Caller overtaking = new Caller("d");
		assertThat(overtaking.enter()).isEqualTo(State.ADMITTED);
		overtaking.ticket.leave();
		assertThat(waiter.steps).hasSize(2);
		waiter.runSteps();
		assertThat(this.admitted).containsExactly("c");
	}

	@Test
	void waiterOfAMillisecondIsAdmittedAndCannotBeOvertaken() {
		Caller holder = entered(new Caller("a"));
		Caller waiter = entered(new Caller("b"));
		this.time.pause(Duration.ofMillis(1));
		holder.ticket.leave();
		assertThat(new Caller("c").enter()).isEqualTo(State.QUEUED);
		waiter.runSteps();
		assertThat(this.admitted).containsExactly("b");
	}

	@Test
	void waiterThatAgesWhileTheLockIsAvailableIsNotOvertaken() {
		Caller holder = entered(new Caller("a"));
		Caller waiter = entered(new Caller("b"));
		holder.ticket.leave();
		this.time.pause(Duration.ofMillis(1));
		assertThat(new Caller("c").enter()).isEqualTo(State.QUEUED);
		waiter.runSteps();
		assertThat(this.admitted).containsExactly("b");
	}

	/** Only the store knows the order of their arrival among those of other JVMs. */
	@Test
	void fairCallersDoNotAwaitEachOther() {
		Caller first = new Caller("a", true, true);
		Caller second = new Caller("b", true, true);
		assertThat(first.enter()).isEqualTo(State.ADMITTED);
		assertThat(new Caller("c").enter()).isEqualTo(State.ADMITTED);
		assertThat(second.enter()).isEqualTo(State.ADMITTED);
		first.ticket.leave();
		assertThat(second.ticket.isAdmitted()).isTrue();
		assertThat(new Caller("d").enter()).isEqualTo(State.QUEUED);
	}

	@Test
	void nonWaitingCallerIsRejectedUnlessTheHolderIsLeaving() {
		Caller holder = entered(new Caller("a"));
		Caller rejected = new Caller("b", false, false);
		assertThat(rejected.enter()).isEqualTo(State.OUTSIDE);
		assertThat(rejected.ticket.isHolderLeaving()).isFalse();
		holder.ticket.leaving();
		assertThat(rejected.ticket.isHolderLeaving()).isTrue();
		assertThat(new Caller("c", false, false).enter()).isEqualTo(State.QUEUED);
		assertThat(new Caller("d", false, false).enter()).isEqualTo(State.OUTSIDE);
	}

	@Test
	void ticketOfARejectedCallerLeavesTheHolderAdmitted() {
		entered(new Caller("a"));
		Caller rejected = entered(new Caller("b", false, false));
		rejected.ticket.leaving();
		rejected.ticket.leave();
		assertThat(rejected.ticket.isHolderLeaving()).isFalse();
		assertThat(new Caller("c").enter()).isEqualTo(State.QUEUED);
	}

	/** Before it has aged, the first waiter is notified; after that, it is admitted. */
	@ParameterizedTest
	@ValueSource(longs = { 0, 1 })
	void waiterThatLeavesPassesThePlaceOn(long ageMillis) {
		Caller holder = entered(new Caller("a"));
		Caller first = entered(new Caller("b"));
		Caller next = entered(new Caller("c"));
		this.time.pause(Duration.ofMillis(ageMillis));
		holder.ticket.leave();
		first.ticket.leave();
		first.runSteps();
		next.runSteps();
		assertThat(this.admitted).containsExactly("c");
	}

	@Test
	void secondLeaveDoesNotAdmitAnother() {
		Caller holder = entered(new Caller("a"));
		Caller next = entered(new Caller("b"));
		entered(new Caller("c"));
		this.time.pause(Duration.ofMillis(1));
		holder.ticket.leave();
		holder.ticket.leave();
		next.runSteps();
		assertThat(this.admitted).containsExactly("b");
		assertThat(new Caller("d").enter()).isEqualTo(State.QUEUED);
	}

	@Test
	void queueIsRemovedWithItsLastCaller() {
		Caller holder = entered(new Caller("a"));
		Caller waiter = entered(new Caller("b"));
		waiter.ticket.leave();
		assertThat(this.queues.size()).isOne();
		holder.ticket.leave();
		assertThat(this.queues.size()).isZero();
	}

	private static Caller entered(Caller caller) {
		caller.enter();
		return caller;
	}

	/** A caller whose steps run when the test decides. */
	private final class Caller {

		private final Deque<Runnable> steps = new ArrayDeque<>();

		private final LocalWaitQueues.Ticket ticket;

		Caller(String name) {
			this(name, true, false);
		}

		Caller(String name, boolean waits, boolean fair) {
			LockRequest request = EngineFixture.request()
				.waitTime(waits ? Duration.ofSeconds(5) : Duration.ZERO)
				.fair(fair)
				.build();
			ResolvedRequest terms = ResolvedRequest
				.of(request, LocalWaitQueuesTests.this.backends, EngineSettings.DEFAULTS)
				.get(0);
			this.ticket = new FakeTicket(LocalWaitQueuesTests.this.queues, terms,
					LocalWaitQueuesTests.this.time.nanos(), this.steps::add,
					() -> LocalWaitQueuesTests.this.admitted.add(name));
		}

		State enter() {
			return this.ticket.enter();
		}

		void runSteps() {
			while (!this.steps.isEmpty()) {
				this.steps.poll().run();
			}
		}

	}

}
