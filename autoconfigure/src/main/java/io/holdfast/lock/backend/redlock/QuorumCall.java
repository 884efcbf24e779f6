package io.holdfast.lock.backend.redlock;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.support.SchedulingClock;

/**
 * One question to all nodes at once. It is decided as soon as the answers suffice, and at
 * the latest when the node time-out has passed; answers that come after that go to
 * whoever wants to know of them.
 *
 * @param <R> the result
 */
final class QuorumCall<R> {

	private final CompletableFuture<R> result = new CompletableFuture<>();

	private final AtomicReference<Votes> tally;

	private final SchedulingClock clock;

	private final Function<Votes, @Nullable R> decision;

	private final Consumer<NodeAnswer> late;

	/**
	 * Create a poll; nothing is asked yet.
	 * @param nodes how many will be asked
	 * @param clock runs the node time-out
	 * @param decision gives the result, or {@code null} while too little is known; must
	 * give one once nothing is pending
	 * @param late takes the answers that came after the decision
	 */
	QuorumCall(int nodes, SchedulingClock clock, Function<Votes, @Nullable R> decision, Consumer<NodeAnswer> late) {
		this.tally = new AtomicReference<>(Votes.empty(nodes));
		this.clock = clock;
		this.decision = decision;
		this.late = late;
	}

	CompletableFuture<R> ask(List<RedlockNode> nodes, Duration timeout,
			Function<RedlockNode, CompletionStage<List<Object>>> question) {
		for (RedlockNode node : nodes) {
			question.apply(node).whenComplete((value, failure) -> answered(new NodeAnswer(node, value, failure)));
		}
		if (!this.result.isDone()) {
			Runnable cancel = this.clock.after(timeout.toNanos(), () -> decide(this.tally.updateAndGet(Votes::closed)));
			this.result.whenComplete((value, failure) -> cancel.run());
		}
		return this.result;
	}

	/** Whether the decision has fallen, so that nobody wants to be asked any more. */
	boolean isDecided() {
		return this.result.isDone();
	}

	private void answered(NodeAnswer answer) {
		if (this.result.isDone()) {
			this.late.accept(answer);
		}
		else {
			decide(this.tally.updateAndGet((present) -> present.with(answer)));
		}
	}

	private void decide(Votes present) {
		try {
			R decided = this.decision.apply(present);
			if (decided != null) {
				this.result.complete(decided);
			}
		}
		catch (RuntimeException ex) {
			this.result.completeExceptionally(ex);
		}
	}

}
