package io.holdfast.lock.backend.redlock;

import java.time.Duration;
import java.util.List;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.AcquireResult.Contended;
import io.holdfast.lock.spi.AcquireResult.Indeterminate;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for nodes that become replicas for a while, or are replaced.
 */
class RedlockNodeChangeTests extends FiveNodes {

	@Test
	@DisplayName("A node that was a replica of its own earlier replica does not help a second owner")
	void nodeThatWasAReplicaOfItsCopyDoesNotVote() throws Exception {
		RedisServer node = nodes.get(2);
		try (RedisServer copy = node.startReplica()) {
			copy.ask("replicaof", "no", "one");
			RedlockLockBackend cutOff = open(List.of(port(0), port(1), port(2), freePort(), freePort()), OPTIONS);
			Grant grant = granted(cutOff, claim());
			beReplicaForAWhile(node, copy);
			assertThat(node.keys("*}:part")).isEmpty();
			assertThat(node.ask("hget", "test:redlock", "memory")).as("the name of the memory, which the copy has, too")
				.startsWith(runId(node));
			assertThat(get(this.first.tryAcquire(claim()))).isInstanceOf(Contended.class);
			assertThat(node.ask("hget", "test:redlock", "admitted")).isEmpty();
			assertThat(get(cutOff.renew(List.of(grant)))).noneMatch(RenewResult.Renewed.class::isInstance);
		}
	}

	@Test
	void nodeThatWasAReplicaOfAnotherNodeDoesNotVote() throws Exception {
		RedlockLockBackend cutOff = open(List.of(port(0), port(1), port(2), freePort(), freePort()), OPTIONS);
		granted(cutOff, claim());
		beReplicaForAWhile(nodes.get(2), nodes.get(4));
		assertThat(get(this.first.tryAcquire(claim()))).isInstanceOf(Contended.class);
		assertThat(nodes.get(2).ask("hget", "test:redlock", "admitted")).isEmpty();
	}

	/** Each writer that readers block would otherwise release all of them there. */
	@Test
	void restartedNodeNeedNotReleaseEarlierClaims() throws Exception {
		granted(this.first, shared());
		Awaitility.await("a connection to the node").until(() -> !nodes.get(4).keys("*" + this.lock + "}:*").isEmpty());
		kill(4);
		for (int i = 0; i < 20; i++) {
			get(this.first.release(granted(this.first, shared())));
		}
		Awaitility.await().until(() -> this.first.unconfirmed(4) > 0);
		start(4);
		Awaitility.await().until(() -> {
			get(this.first.release(granted(this.first, shared())));
			return this.first.unconfirmed(4) == 0;
		});
	}

	/** Nothing of a claim can come late on a node to which no connection was made. */
	@Test
	void claimsAreNotNotedForANodeThatWasNeverConnected() throws Exception {
		RedlockLockBackend backend = open(List.of(port(0), port(1), port(2), port(3), freePort()), OPTIONS);
		for (int i = 0; i < 20; i++) {
			Grant grant = granted(backend, shared());
			released(backend, grant);
		}
		awaitNothingLeft(0, 1, 2, 3);
		assertThat(backend.unconfirmed(4)).isZero();
	}

	/** A claim that waits makes several attempts, none of which was sent there. */
	@Test
	void waitingClaimIsNotNotedForANodeThatWasNeverConnected() throws Exception {
		RedlockLockBackend backend = open(List.of(port(0), port(1), port(2), port(3), freePort()), OPTIONS);
		Grant grant = granted(backend);
		Claim waiting = claim().withRemainingWait(Duration.ofMinutes(1));
		for (int i = 0; i < 2; i++) {
			refused(backend, waiting);
		}
		get(backend.abandon(waiting));
		released(backend, grant);
		Awaitility.await("answers of all nodes").until(() -> backend.underWay() == 0);
		awaitNothingLeft(0, 1, 2, 3);
		assertThat(backend.unconfirmed(4)).isZero();
	}

	@Slow
	@Test
	void nodeThatWasAReplicaVotesAfterTheQuarantine() throws Exception {
		kill(3, 4);
		beReplicaForAWhile(nodes.get(2), nodes.get(1));
		Claim claim = claim();
		assertThat(get(this.first.tryAcquire(claim))).isInstanceOf(Indeterminate.class);
		soonGranted(this.first, claim);
		assertThat(nodes.get(2).ask("hget", "test:redlock", "admitted")).startsWith(runId(nodes.get(2)));
	}

	@ParameterizedTest
	@ValueSource(strings = { "yes", "no" })
	void replicaDoesNotVote(String readOnly) throws Exception {
		kill(3, 4);
		nodes.get(2).ask("config", "set", "replica-read-only", readOnly);
		nodes.get(2).ask("replicaof", "127.0.0.1", String.valueOf(port(1)));
		try {
			AcquireResult result = get(this.first.tryAcquire(claim()));
			assertThat(result).isInstanceOfSatisfying(Indeterminate.class,
					(unknown) -> assertThat(unknown.cause()).hasMessageContaining("replica"));
		}
		finally {
			nodes.get(2).ask("replicaof", "no", "one");
			nodes.get(2).ask("config", "set", "replica-read-only", "yes");
		}
	}

	@Slow
	@Test
	@DisplayName("A node to which a replica connects or from which it disconnects keeps its vote")
	void nodeWithAReplicaKeepsItsVote() throws Exception {
		kill(3, 4);
		RedisServer node = nodes.get(2);
		node.ask("config", "set", "repl-backlog-ttl", "1");
		awaitNoBacklog(node);
		String before = replicationId(node);
		Claim claim = claim();
		try (RedisServer copy = node.startReplica()) {
			assertThat(copy.ask("get", key("part"))).isEmpty();
			granted(this.first, claim);
		}
		String during = replicationId(node);
		awaitNoBacklog(node);
		granted(this.first, claim);
		assertThat(List.of(before, during, replicationId(node))).doesNotHaveDuplicates();
	}

	private static void awaitNoBacklog(RedisServer node) {
		Awaitility.await().until(() -> node.ask("info", "replication").contains("repl_backlog_active:0"));
	}

	@Slow
	@Test
	@DisplayName("A node in place of a stopped one votes when no lock counts the stopped one any more")
	void nodeThatReplacesAStoppedOneDoesNotHelpASecondOwner() throws Exception {
		nodes.get(4).ask("flushall");
		RedlockLockBackend before = open(List.of(freePort(), port(1), port(2)), OPTIONS);
		Grant grant = granted(before, claim());
		kill(2);
		RedlockLockBackend after = open(ports(0, 1, 4), OPTIONS);
		Claim next = claim();
		assertThat(get(after.tryAcquire(next))).isNotInstanceOf(AcquireResult.Acquired.class);
		assertThat(get(before.renew(List.of(grant)))).noneMatch(RenewResult.Renewed.class::isInstance);
		long start = System.nanoTime();
		soonGranted(after, next);
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(LONGEST_LEASE.minusSeconds(1));
	}

	private static void beReplicaForAWhile(RedisServer node, RedisServer master) {
		node.ask("replicaof", "127.0.0.1", String.valueOf(master.port()));
		Awaitility.await().until(() -> node.ask("info", "replication").contains("master_link_status:up"));
		node.ask("replicaof", "no", "one");
	}

	private static String runId(RedisServer node) {
		return line(node.ask("info", "server"), "run_id:");
	}

	private static String replicationId(RedisServer node) {
		return line(node.ask("info", "replication"), "master_replid:");
	}

	private static String line(String info, String start) {
		return info.lines()
			.filter((line) -> line.startsWith(start))
			.map((line) -> line.substring(start.length()).strip())
			.findFirst()
			.orElseThrow();
	}

}
