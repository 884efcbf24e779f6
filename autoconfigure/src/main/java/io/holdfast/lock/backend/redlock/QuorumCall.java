package io.holdfast.lock.backend.redlock;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.support.SchedulingClock;

/**
 * One request to several nodes in parallel. Decides as soon as the responses suffice, at
 * the latest at the node timeout. Ignores the responses that arrive after that.
 *
 * @param <R> the result
 */
final class QuorumCall<R> {

	private final CompletableFuture<R> result = new CompletableFuture<>();

	private final AtomicReference<Votes> votes;

	private final SchedulingClock clock;

	private final Function<Votes, @Nullable R> decision;

	/**
	 * Creates a call. Sends no request.
	 * @param nodes number of nodes that will be asked
	 * @param clock runs the node timeout
	 * @param decision returns the result, or {@code null} while the responses do not
	 * suffice; must return one if no response is pending
	 */
	QuorumCall(int nodes, SchedulingClock clock, Function<Votes, @Nullable R> decision) {
		this.votes = new AtomicReference<>(Votes.empty(nodes));
		this.clock = clock;
		this.decision = decision;
	}

	CompletableFuture<R> ask(List<RedlockNode> nodes, Duration timeout,
			Function<RedlockNode, CompletionStage<List<Object>>> question) {
		for (RedlockNode node : nodes) {
			question.apply(node).whenComplete((value, failure) -> answered(new NodeResponse(node, value, failure)));
		}
		if (!this.result.isDone()) {
			Runnable cancel = this.clock.after(timeout.toNanos(), () -> decide(this.votes.updateAndGet(Votes::closed)));
			this.result.whenComplete((value, failure) -> cancel.run());
		}
		return this.result;
	}

	/** Whether the call is decided, so that further requests are unnecessary. */
	boolean isDecided() {
		return this.result.isDone();
	}

	private void answered(NodeResponse answer) {
		if (!this.result.isDone()) {
			Votes present = this.votes.updateAndGet((votes) -> votes.with(answer));
			present.reportSecond();
			decide(present);
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
