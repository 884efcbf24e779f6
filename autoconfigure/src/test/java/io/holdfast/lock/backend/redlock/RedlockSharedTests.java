package io.holdfast.lock.backend.redlock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.engine.LockEngine;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.AcquireResult.Acquired;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.test.Slow;

import static java.util.function.Predicate.not;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for shared and exclusive holders on five real masters.
 */
class RedlockSharedTests extends FiveNodes {

	private static final Duration WAIT_TIME = Duration.ofMinutes(1);

	@Test
	void readersNeedNoMoreThanAMajority() throws Exception {
		Grant one = granted(this.first, shared());
		kill(3, 4);
		Grant other = soonGranted(this.first, shared());
		List<RenewResult> renewals = Awaitility.await()
			.until(() -> get(this.first.renew(List.of(one, other))),
					(results) -> results.stream().noneMatch(RenewResult.Indeterminate.class::isInstance));
		assertThat(renewals).hasSize(2).allMatch(RenewResult.Renewed.class::isInstance);
		refused(this.first, claim());
		released(this.first, one);
		refused(this.first, claim());
		released(this.first, other);
		assertThat(granted(this.first).storeToken()).isGreaterThan(other.storeToken());
	}

	/** A frozen node may grant late what was released, but it has none of it here. */
	@Test
	void writerBehindALivingReaderDoesNotReleaseEarlierReaders() throws Exception {
		List<Grant> readers = new ArrayList<>();
		nodes.get(4).pause();
		for (int i = 0; i < 20; i++) {
			readers.add(granted(this.first, shared()));
		}
		readers.forEach((reader) -> this.first.release(reader));
		Awaitility.await().until(() -> this.first.unconfirmed(4) == readers.size());
		nodes.get(4).resume();
		Grant living = Awaitility.await().until(() -> {
			Grant grant = granted(this.first, shared());
			String present = nodes.get(4).ask("zrange", key("part-readers"), "0", "-1");
			if (present.lines().count() == 1 && present.startsWith(grant.claim().owner().value())) {
				return grant;
			}
			get(this.first.release(grant));
			return null;
		}, Objects::nonNull);
		assertThat(this.first.unconfirmed(4)).isPositive();
		List<String> commands = nodes.get(4).watched(() -> {
			for (int i = 0; i < 5; i++) {
				refused(this.first, claim());
			}
			return null;
		});
		assertThat(commands).filteredOn(
				(command) -> readers.stream().anyMatch((reader) -> command.contains(reader.claim().owner().value())))
			.isEmpty();
		get(this.first.release(living));
	}

	@Test
	void oneReaderOnAMajorityKeepsAWriterOut() throws Exception {
		RedlockLockBackend cutOff = open(List.of(port(0), port(1), port(2), freePort(), freePort()), OPTIONS);
		Grant reader = granted(cutOff, shared());
		refused(this.first, claim());
		awaitNoWaiter();
		get(cutOff.release(reader));
		soonGranted(this.first, claim());
	}

	@Slow
	@Test
	void restartedNodeDoesNotHelpAWriterBesideAReader() throws Exception {
		RedlockLockBackend cutOff = open(List.of(port(0), port(1), port(2), freePort(), freePort()), OPTIONS);
		Grant reader = granted(cutOff, shared());
		Claim writer = claim();
		long restarting = System.nanoTime();
		nodes.get(2).restart();
		refused(this.first, writer);
		Grant next = soonGranted(this.first, writer);
		assertThat(Duration.ofNanos(System.nanoTime() - restarting)).as("time until the writer")
			.isGreaterThan(LONGEST_LEASE.minusMillis(400));
		assertThat(next.storeToken()).isGreaterThan(reader.storeToken());
		// the lease of the reader may end later on one node, which would still renew it
		IntStream.of(0, 1)
			.forEach((i) -> Awaitility.await().until(() -> nodes.get(i).keys(key("part-readers")).isEmpty()));
		// the client of the reader may notice the restart only now, and then awaits the
		// node's vote
		assertThat(Awaitility.await()
			.until(() -> get(cutOff.renew(List.of(reader))).get(0), not(RenewResult.Indeterminate.class::isInstance)))
			.isInstanceOf(RenewResult.Refused.class);
	}

	@Test
	void majorityThatForgotAReaderRefusesItsRenewal() throws Exception {
		Grant reader = granted(this.first, shared());
		Awaitility.await().until(() -> this.first.underWay() == 0);
		IntStream.of(0, 1, 2).forEach((i) -> nodes.get(i).ask("del", key("part-readers")));
		assertThat(renewed(this.first, reader)).isInstanceOf(RenewResult.Refused.class);
		awaitNothingLeft(0, 1, 2, 3, 4);
	}

	@Slow
	@Test
	void majorityLostDuringRenewalIsALostReaderBeforeTheLeaseEnds() {
		LockRequest request = LockRequest.forLock(this.lock)
			.mode(LockMode.SHARED)
			.waitTime(Duration.ofSeconds(1))
			.leaseTime(LONGEST_LEASE)
			.build();
		try (LockEngine engine = engine(this.first); LockHandle handle = engine.acquire(request)) {
			kill(0, 1, 2);
			awaitLossWithin(LONGEST_LEASE, handle);
		}
	}

	@Slow
	@Test
	void concurrentReadersAllAcquireWithDistinctTokens() throws Exception {
		List<RedlockLockBackend> clients = Stream.generate(() -> open(ports(0, 1, 2, 3, 4), OPTIONS)).limit(3).toList();
		clients.forEach((client) -> client.verify());
		List<Long> tokens = new ArrayList<>();
		for (int round = 0; round < 10; round++) {
			List<Claim> claims = Stream.generate(this::shared).limit(12).toList();
			List<CompletionStage<AcquireResult>> answers = IntStream.range(0, claims.size())
				.mapToObj((i) -> clients.get(i % clients.size()).tryAcquire(claims.get(i)))
				.toList();
			long greatest = tokens.stream().mapToLong(Long::longValue).max().orElse(0);
			for (int i = 0; i < claims.size(); i++) {
				RedlockLockBackend client = clients.get(i % clients.size());
				Grant grant = (get(answers.get(i)) instanceof Acquired acquired) ? acquired.grant()
						: soonGranted(client, claims.get(i));
				assertThat(grant.storeToken()).isGreaterThan(greatest);
				tokens.add(grant.storeToken());
				get(client.release(grant));
			}
		}
		assertThat(tokens).doesNotHaveDuplicates();
		awaitNothingLeft(0, 1, 2, 3, 4);
	}

	@Test
	void refusedWriterBlocksNewReadersAlsoWhereItWasUndone() throws Exception {
		RedlockLockBackend cutOff = open(List.of(port(0), port(1), port(2), freePort(), freePort()), OPTIONS);
		granted(cutOff, shared());
		Claim writer = claim().withRemainingWait(WAIT_TIME);
		refused(this.first, writer);
		Awaitility.await()
			.untilAsserted(() -> assertThat(nodes.all()).allMatch((node) -> !node.keys(key("part-waiters")).isEmpty()));
		assertThat(nodes.get(4).keys(key("part"))).isEmpty();
		kill(0, 1);
		refused(this.first, shared());
		get(this.first.abandon(writer));
		awaitNoWaiter();
		granted(this.first, shared());
	}

	@Test
	void lastAttemptOfAWriterLeavesNoPosition() throws Exception {
		granted(this.first, shared());
		Claim writer = claim();
		refused(this.first, writer.withRemainingWait(WAIT_TIME));
		refused(this.first, shared());
		refused(this.first, writer);
		Awaitility.await().until(() -> this.first.underWay() == 0);
		awaitNoWaiter();
		granted(this.first, shared());
	}

	@Slow
	@Test
	void positionOfAVanishedWriterExpires() throws Exception {
		granted(this.first, shared());
		refused(this.first, claim().withRemainingWait(Duration.ofSeconds(2)));
		refused(this.first, shared());
		awaitNoWaiter();
		granted(this.first, shared());
	}

	@Test
	void waitingReaderIsNotOvertakenByAllLaterWriters() throws Exception {
		Grant holder = granted(this.first);
		Claim reader = waiter("1", LockMode.SHARED);
		refused(this.first, reader);
		Claim later = waiter("2", LockMode.EXCLUSIVE);
		refused(this.first, later);
		Awaitility.await().until(() -> this.first.underWay() == 0);
		get(this.first.release(holder));
		awaitNothing("part");
		refused(this.first, shared());
		granted(this.first, reader);
		get(this.first.abandon(later));
	}

	@Test
	void lateUndoDoesNotTouchTheNextAttemptOfTheSameReader() throws Exception {
		Claim reader = shared();
		Grant before = granted(this.first, reader);
		Grant again = granted(this.first, reader);
		assertThat(again.storeToken()).isEqualTo(before.storeToken());
		// the majority may not include this node
		Awaitility.await().until(() -> this.first.underWay() == 0);
		String attempt = nodes.get(0).ask("zrange", key("part-readers"), "0", "-1").split(":")[1];
		assertThat(undo(reader, Long.toString(Long.parseLong(attempt) - 1))).contains("0");
		assertThat(renewed(this.first, again)).isInstanceOf(RenewResult.Renewed.class);
		// this node may renew the lease after the majority
		Awaitility.await()
			.until(() -> !nodes.get(0).ask("zrange", key("part-readers"), "0", "-1").split(":")[1].equals(attempt));
		assertThat(undo(reader, attempt)).as("a renewed lease counts").contains("0");
	}

	@Test
	void readerThatRetriesKeepsItsToken() throws Exception {
		Claim reader = shared();
		Grant before = granted(this.first, reader);
		Awaitility.await().until(() -> this.first.underWay() == 0);
		granted(this.first, shared());
		kill(0, 1);
		assertThat(soonGranted(this.first, reader).storeToken()).isEqualTo(before.storeToken());
	}

	@Test
	void lateGrantOfAReaderIsReleased() throws Exception {
		granted(this.first, shared());
		IntStream.of(0, 1, 2).forEach((i) -> nodes.get(i).pause());
		Claim late = shared();
		assertThat(get(this.first.tryAcquire(late))).isInstanceOf(AcquireResult.Indeterminate.class);
		IntStream.of(0, 1, 2).forEach((i) -> nodes.get(i).resume());
		Awaitility.await().until(() -> this.first.underWay() == 0);
		Awaitility.await()
			.untilAsserted(() -> assertThat(nodes.all()).noneMatch(
					(node) -> node.ask("zrange", key("part-readers"), "0", "-1").contains(late.owner().value())));
	}

	@Test
	void latePositionOfAVanishedClaimIsRemoved() throws Exception {
		granted(this.first, shared());
		Awaitility.await().until(() -> this.first.underWay() == 0);
		IntStream.of(0, 1, 2).forEach((i) -> nodes.get(i).pause());
		Claim writer = claim().withRemainingWait(WAIT_TIME);
		CompletionStage<AcquireResult> lateAttempt = this.first.tryAcquire(writer);
		this.first.abandon(writer);
		get(lateAttempt);
		IntStream.of(0, 1, 2).forEach((i) -> nodes.get(i).resume());
		Awaitility.await().until(() -> this.first.underWay() == 0);
		Duration lessThanAPositionLasts = Duration.ofSeconds(3);
		Awaitility.await()
			.atMost(lessThanAPositionLasts)
			.untilAsserted(() -> assertThat(nodes.all()).allMatch((node) -> node.keys(key("part-waiters")).isEmpty()));
	}

	private void awaitNoWaiter() {
		awaitNothing("part-waiters");
	}

	private void awaitNothing(String part) {
		Awaitility.await()
			.untilAsserted(() -> assertThat(nodes.all())
				.allMatch((node) -> !node.isRunning() || node.keys(key(part)).isEmpty()));
	}

}
