package io.holdfast.lock.backend.zookeeper;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;

import static io.holdfast.lock.backend.Verbs.claim;
import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.refused;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Verifies what claims read from the server when they ask again or give up. Each response
 * names the whole wait queue.
 */
class ZooKeeperQueueReadTests extends ScriptedClients {

	@Test
	void claimsThatGiveUpTogetherShareTheirReads() throws Exception {
		granted(this.store, claim(LOCK));
		List<Claim> waiting = Stream.generate(() -> claim(LOCK)).limit(50).toList();
		for (Claim claim : waiting) {
			refused(this.store, claim);
		}
		this.calls.sent();
		this.calls.hold("check");
		List<CompletableFuture<Void>> withdrawals = waiting.stream().map(this::withdrawn).toList();
		ScriptedZooKeeper.Request<Void> first = this.calls.next();
		assertThat(this.calls.holdsAny()).as("one request for all").isFalse();
		this.calls.holdNothing();
		first.answer();
		assertThat(withdrawals).allMatch(CompletableFuture::isDone)
			.noneMatch(CompletableFuture::isCompletedExceptionally);
		assertThat(this.calls.sent()).filteredOn((request) -> request.startsWith("children")).hasSize(2);
		assertThat(this.server.paths()).hasSize(1);
		assertThat(this.store.remembered()).isEqualTo(1);
	}

	@Test
	void waitersThatAskAgainTogetherShareTheirReads() throws Exception {
		granted(this.store, claim(LOCK));
		List<Claim> waiting = Stream.generate(() -> claim(LOCK)).limit(50).toList();
		for (Claim claim : waiting) {
			refused(this.store, claim);
		}
		this.calls.sent();
		this.calls.hold("children");
		List<CompletableFuture<AcquireResult>> attempts = waiting.stream()
			.map((claim) -> this.store.tryAcquire(claim).toCompletableFuture())
			.toList();
		ScriptedZooKeeper.Request<List<String>> first = this.calls.<List<String>>next().carryOut();
		assertThat(this.calls.holdsAny()).as("one request for all").isFalse();
		this.calls.holdNothing();
		first.answer();
		assertThat(attempts).extracting(CompletableFuture::join).hasOnlyElementsOfType(AcquireResult.Contended.class);
		assertThat(this.calls.sent()).filteredOn((request) -> request.startsWith("children")).hasSize(2);
	}

	/** The response to a read that was sent before may lack the node of the claim. */
	@Test
	void claimDoesNotShareAReadThatWasSentBefore() throws Exception {
		granted(this.store, claim(LOCK));
		Claim earlier = claim(LOCK);
		refused(this.store, earlier);
		this.calls.hold("children");
		CompletableFuture<Void> first = withdrawn(earlier);
		ScriptedZooKeeper.Request<List<String>> read = this.calls.<List<String>>next().carryOut();
		this.calls.holdNothing();
		Claim later = claim(LOCK);
		refused(this.store, later);
		CompletableFuture<Void> second = withdrawn(later);
		assertThat(second).isNotDone();
		read.answer();
		assertThat(first).isCompleted();
		assertThat(second).isCompleted();
		assertThat(this.server.paths()).hasSize(1);
	}

	@Test
	void failedReadDoesNotFailTheClaimsBehindIt() throws Exception {
		granted(this.store, claim(LOCK));
		Claim earlier = claim(LOCK);
		Claim later = claim(LOCK);
		refused(this.store, earlier);
		refused(this.store, later);
		this.calls.hold("children");
		CompletableFuture<Void> first = withdrawn(earlier);
		CompletableFuture<Void> second = withdrawn(later);
		this.calls.holdNothing();
		this.calls.next().lose();
		assertThat(first).isCompletedExceptionally();
		assertThat(second).isCompleted();
		assertThat(withdrawn(earlier)).isCompleted();
		assertThat(this.server.paths()).hasSize(1);
	}

	private CompletableFuture<Void> withdrawn(Claim claim) {
		return this.store.abandon(claim).toCompletableFuture();
	}

}
