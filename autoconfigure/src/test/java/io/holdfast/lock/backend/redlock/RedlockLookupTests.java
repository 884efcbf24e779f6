package io.holdfast.lock.backend.redlock;

import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockState;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.StoreStatus;
import io.holdfast.lock.spi.StoreStatus.State;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.RedisServer;

import static io.holdfast.lock.backend.Verbs.BOUND;
import static io.holdfast.lock.backend.Verbs.answer;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for what an operator sees of five nodes.
 */
class RedlockLookupTests extends FiveNodes {

	@Test
	void everyNodeIsUp() {
		awaitStatus(State.AVAILABLE, List.of("up", "up", "up", "up", "up"));
	}

	@Slow
	@Test
	void silentMinorityIsShownButLocksAreAvailable() {
		nodes.get(0).pause();
		kill(1);
		awaitStatus(State.AVAILABLE, List.of("silent", "silent", "up", "up", "up"));
	}

	@Test
	void silentMajorityMakesLocksUnavailable() {
		kill(0, 1, 2);
		awaitStatus(State.UNAVAILABLE, List.of("silent", "silent", "silent", "up", "up"));
	}

	@Test
	void nodesThatHaveLostTheirMemoryAreQuarantined() {
		nodes.get(3).ask("flushall");
		nodes.get(4).ask("flushall");
		awaitStatus(State.AVAILABLE, List.of("up", "up", "up", "quarantined", "quarantined"));
	}

	@Test
	void nodeThatRejectsWhatLocksNeedIsShown() {
		nodes.get(2).ask("acl", "setuser", "default", "-publish");
		try {
			awaitStatus(State.AVAILABLE, List.of("up", "up", "rejecting", "up", "up"));
		}
		finally {
			nodes.get(2).ask("acl", "setuser", "default", "+publish");
		}
	}

	private void awaitStatus(State state, List<String> states) {
		Awaitility.await().atMost(BOUND).untilAsserted(() -> {
			StoreStatus status = answer(this.first.status());
			assertThat(List.copyOf(((Map<?, ?>) status.details().get("nodes")).values())).isEqualTo(states);
			assertThat(status.state()).isEqualTo(state);
			assertThat(status.details()).containsEntry("quorum", 3);
		});
	}

	@Test
	void holderIsFoundWhileAMinorityIsSilent() throws Exception {
		Grant grant = soonGranted(this.first, claim());
		kill(3, 4);
		LockState state = Awaitility.await()
			.atMost(BOUND)
			.ignoreExceptions()
			.until(() -> answer(this.first.find(this.lock)), LockState::isHeld);
		assertThat(state.holders()).extracting(LockState.Holder::ownerId)
			.containsExactly(grant.claim().owner().value());
		answer(this.first.release(grant));
	}

	@Test
	void grantOfAMinorityIsNoHolder() throws Exception {
		Claim claim = claim();
		for (RedisServer node : nodes.all().subList(0, 2)) {
			node.ask("set", key("part"), claim.owner() + ":1:7", "px", "60000");
		}
		assertThat(answer(this.first.find(this.lock)).isHeld()).isFalse();
		answer(this.first.abandon(claim));
	}

	@Test
	void holderIsUnknownWithoutAMajority() {
		kill(0, 1, 2);
		assertThat(this.first.find(this.lock).toCompletableFuture()).failsWithin(BOUND)
			.withThrowableThat()
			.withCauseInstanceOf(LockBackendException.class)
			.withMessageContaining("could not be looked up");
	}

	@Test
	void revocationByAMajorityOfTheNodesIsKnown() throws Exception {
		LockState.Holder holder = holderReleasedBySomeoneElseOn(0, 1);
		assertThat(answer(this.first.revoke(this.lock, holder))).isTrue();
		assertThat(answer(this.first.revoke(this.lock, holder))).isFalse();
	}

	/**
	 * If each of three operators ends the lease on a minority, one of them must be told.
	 */
	@Test
	void revocationByAMinorityOfTheNodesIsUnknown() throws Exception {
		LockState.Holder holder = holderReleasedBySomeoneElseOn(0, 1, 2);
		assertThat(this.first.revoke(this.lock, holder).toCompletableFuture()).failsWithin(BOUND)
			.withThrowableThat()
			.withCauseInstanceOf(LockBackendException.class)
			.withMessageContaining("could not be released by force by this call alone")
			.withMessageContaining("on 2 of 5 Redis nodes")
			.withMessageContaining("No node has the lease any more")
			.withMessageNotContaining("Check that the nodes are running");
		awaitNothingLeft(0, 1, 2, 3, 4);
	}

	private LockState.Holder holderReleasedBySomeoneElseOn(int... which) throws Exception {
		soonGranted(this.first, claim());
		Awaitility.await()
			.atMost(BOUND)
			.until(() -> nodes.all().stream().allMatch((node) -> !node.keys(key("part")).isEmpty()));
		LockState.Holder holder = answer(this.first.find(this.lock)).holders().get(0);
		IntStream.of(which).forEach((i) -> nodes.get(i).ask("del", key("part")));
		return holder;
	}

}
