package io.holdfast.lock.backend.zookeeper;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.apache.zookeeper.KeeperException;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link QueueReads}.
 */
class QueueReadsTests {

	private static final String QUEUE = "/holdfast/shop/stock-42";

	private final List<CompletableFuture<List<QueueNodeName>>> sent = new ArrayList<>();

	private final ScriptedTimers timers = new ScriptedTimers();

	private final QueueReads reads = new QueueReads(this::send, this.timers);

	private CompletableFuture<List<QueueNodeName>> send(String queue) {
		CompletableFuture<List<QueueNodeName>> request = new CompletableFuture<>();
		this.sent.add(request);
		return request;
	}

	/** The client repeats a read after a broken connection, perhaps much later. */
	@Test
	void readWithoutResponseDelaysTheNextForALimitedTime() {
		CompletableFuture<?> first = this.reads.read(QUEUE);
		CompletableFuture<?> second = this.reads.read(QUEUE);
		assertThat(this.sent).hasSize(1);
		this.timers.run();
		assertThat(this.sent).hasSize(2);
		this.sent.get(1).complete(List.of());
		assertThat(second).isCompleted();
		assertThat(first).isNotDone();
	}

	@Test
	void lateResponseLeavesTheClaimsOfLaterReadsTogether() {
		CompletableFuture<?> first = this.reads.read(QUEUE);
		this.reads.read(QUEUE);
		this.timers.run();
		CompletableFuture<?> third = this.reads.read(QUEUE);
		this.sent.get(0).completeExceptionally(new KeeperException.ConnectionLossException());
		assertThat(first).isCompletedExceptionally();
		CompletableFuture<?> shared = this.reads.read(QUEUE);
		assertThat(this.sent).hasSize(2);
		this.sent.get(1).complete(List.of());
		assertThat(this.sent).hasSize(3);
		this.sent.get(2).complete(List.of());
		assertThat(third).isCompleted();
		assertThat(shared).isCompleted();
		assertNothingLeft();
	}

	private void assertNothingLeft() {
		assertThat(this.timers.tasks()).isEmpty();
		assertThat(this.reads).extracting("latest", InstanceOfAssertFactories.MAP).isEmpty();
	}

	@Test
	void readsThatAreAnsweredLeaveNothing() {
		this.reads.read(QUEUE);
		assertThat(this.timers.tasks()).isEmpty();
		this.reads.read(QUEUE);
		assertThat(this.timers.tasks()).hasSize(1);
		this.sent.get(0).complete(List.of());
		assertThat(this.sent).hasSize(2);
		this.sent.get(1).complete(List.of());
		assertNothingLeft();
	}

	/** Otherwise, all later claims would share the read that was never sent. */
	@Test
	void readWhoseTimerCannotBeSetIsSent() {
		this.reads.read(QUEUE);
		this.timers.failNext(new NoClassDefFoundError("undeployed"));
		CompletableFuture<?> second = this.reads.read(QUEUE);
		assertThat(this.sent).hasSize(2);
		this.sent.forEach((request) -> request.complete(List.of()));
		assertThat(second).isCompleted();
		assertNothingLeft();
	}

	@Test
	void readsOfDifferentQueuesDoNotWaitForEachOther() {
		this.reads.read(QUEUE);
		this.reads.read(QUEUE + "0");
		assertThat(this.sent).hasSize(2);
	}

}
