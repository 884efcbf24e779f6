package io.holdfast.lock.backend.redlock;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.support.SchedulingClock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class NodeBacklogTests {

	private static final int MANY = 3 * NodeBacklog.MOST_WHILE_SILENT;

	private static final Duration NODE_TIMEOUT = Duration.ofMillis(50);

	private final AtomicLong now = new AtomicLong();

	/** The requests that the node has not answered. */
	private final Deque<CompletableFuture<String>> unanswered = new ArrayDeque<>();

	private final NodeBacklog backlog = new NodeBacklog(new SchedulingClock() {

		@Override
		public long nanos() {
			return NodeBacklogTests.this.now.get();
		}

		@Override
		public Runnable after(long delayNanos, Runnable task) {
			throw new UnsupportedOperationException();
		}

	}, NODE_TIMEOUT);

	@Test
	void nodeThatRespondsGetsAllRequests() {
		send(MANY);
		assertThat(this.unanswered).hasSize(MANY);
	}

	@Test
	void silentNodeGetsALimitedNumberOfRequests() {
		becomeSilent();
		send(MANY);
		assertThat(this.unanswered).hasSize(NodeBacklog.MOST_WHILE_SILENT + 1);
	}

	@Test
	void requestThatIsNotSentFails() {
		becomeSilent();
		send(MANY);
		assertThatThrownBy(() -> send().toCompletableFuture().join()).hasMessageContaining("no response to earlier");
	}

	@Test
	void nodeWithABacklogGetsOneRequestAfterAnother() {
		becomeSilent();
		send(MANY);
		timeOut(this.unanswered.removeLast());
		send(MANY);
		assertThat(this.unanswered).hasSize(NodeBacklog.MOST_WHILE_SILENT + 1);
	}

	@Test
	void endOfAnEarlierRequestPermitsNoOther() {
		becomeSilent();
		send(MANY);
		timeOut(this.unanswered.removeFirst());
		send(MANY);
		assertThat(this.unanswered).hasSize(NodeBacklog.MOST_WHILE_SILENT);
	}

	@Test
	void firstResponseEndsTheLimit() {
		becomeSilent();
		send(MANY);
		this.unanswered.removeLast().complete("response");
		send(MANY);
		assertThat(this.unanswered).hasSize(NodeBacklog.MOST_WHILE_SILENT + MANY);
	}

	@Test
	void limitBeginsAnewAfterAResponse() {
		becomeSilent();
		send(MANY);
		this.unanswered.forEach((request) -> request.complete("response"));
		this.unanswered.clear();
		becomeSilent();
		send(MANY);
		assertThat(this.unanswered).hasSize(NodeBacklog.MOST_WHILE_SILENT + 1);
	}

	@Test
	void requestThatFailsAtOnceIsNoSilence() {
		send();
		this.unanswered.removeLast().completeExceptionally(new IllegalStateException("connection refused"));
		send(MANY);
		assertThat(this.unanswered).hasSize(MANY);
	}

	/** Otherwise, the node would never get another request. */
	@Test
	void requestThatThrowsIsFollowedByAnother() {
		becomeSilent();
		send(MANY);
		timeOut(this.unanswered.removeLast());
		CompletionStage<String> failed = this.backlog.send(() -> {
			throw new NoClassDefFoundError("undeployed");
		});
		assertThat(failed).isCompletedExceptionally();
		send(MANY);
		assertThat(this.unanswered).hasSize(NodeBacklog.MOST_WHILE_SILENT + 1);
	}

	private void becomeSilent() {
		send();
		timeOut(this.unanswered.removeLast());
	}

	private void timeOut(CompletableFuture<String> request) {
		this.now.addAndGet(NODE_TIMEOUT.toNanos());
		request.completeExceptionally(new TimeoutException());
	}

	private void send(int times) {
		for (int i = 0; i < times; i++) {
			send();
		}
	}

	private CompletionStage<String> send() {
		return this.backlog.send(() -> {
			CompletableFuture<String> request = new CompletableFuture<>();
			this.unanswered.addLast(request);
			return request;
		});
	}

}
