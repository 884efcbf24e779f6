package io.holdfast.lock.backend.redlock;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.AcquireResult.Acquired;
import io.holdfast.lock.spi.AcquireResult.Contended;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.test.StoppedClock;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the demand of sticky leases on five nodes whose responses and messages the
 * test sends. Its clock stands still, so no timer runs.
 */
class RedlockDemandTests {

	private static final List<Object> GRANTED_AND_WANTED = List.of(1L, 7L, 1_000L, 0L, 1L);

	private static final List<Object> REJECTED_AND_DEMANDED = List.of(0L, 5_000L, 1_000L, "holder", 1L, 1L, 1L);

	private final List<ScriptedNode> nodes = ScriptedNode.nodes(5);

	private final RedlockLockBackend backend = ScriptedNode.backend(this.nodes, new StoppedClock());

	private final OwnerId owner = OwnerId.random();

	@BeforeEach
	void connect() {
		this.backend.verify();
	}

	private Claim claim(Duration remainingWait) {
		return new Claim(LockName.of("stock", "42"), this.owner, LockMode.EXCLUSIVE, Duration.ofSeconds(30), true,
				remainingWait, false, true);
	}

	private AcquireResult ask(Duration remainingWait) {
		return this.backend.tryAcquire(claim(remainingWait)).toCompletableFuture().join();
	}

	private Grant granted() {
		return ((Acquired) ask(Duration.ZERO)).grant();
	}

	private static boolean isDone(CompletionStage<?> signal) {
		return signal.toCompletableFuture().isDone();
	}

	private void respond(int from, int to, List<Object> response) {
		this.nodes.subList(from, to).forEach((node) -> node.acquired = CompletableFuture.completedFuture(response));
	}

	private void down(int from, int to) {
		this.nodes.subList(from, to)
			.forEach((node) -> node.acquired = CompletableFuture.failedFuture(new IllegalStateException("down")));
	}

	@Test
	void firstMessageIsADemand() {
		respond(0, 5, ScriptedNode.GRANTED);
		Grant grant = granted();
		assertThat(isDone(grant.wanted())).isFalse();
		this.nodes.get(4).listener.accept("wanted:" + OwnerId.random());
		assertThat(isDone(grant.wanted())).isFalse();
		this.nodes.get(4).listener.accept("wanted:" + this.owner);
		assertThat(isDone(grant.wanted())).isTrue();
	}

	@Test
	void leaseIsWantedIfOthersWaitAtANodeThatRespondsLate() {
		respond(0, 4, ScriptedNode.GRANTED);
		CompletableFuture<List<Object>> late = new CompletableFuture<>();
		this.nodes.get(4).acquired = late;
		Grant grant = granted();
		assertThat(isDone(grant.wanted())).isFalse();
		late.complete(GRANTED_AND_WANTED);
		assertThat(isDone(grant.wanted())).isTrue();
	}

	@Test
	void oneNodeOfTheMajorityDemandsTheLease() {
		respond(0, 2, ScriptedNode.REJECTED);
		respond(2, 3, REJECTED_AND_DEMANDED);
		down(3, 5);
		assertThat(((Contended) ask(Duration.ZERO)).demanded()).isTrue();
		respond(2, 3, ScriptedNode.REJECTED);
		assertThat(((Contended) ask(Duration.ZERO)).demanded()).isFalse();
	}

	@Test
	void nodesThatGrantedAClaimBesideADemandedLeaseNeedNotNotifyIt() {
		respond(0, 1, ScriptedNode.GRANTED);
		respond(1, 3, REJECTED_AND_DEMANDED);
		down(3, 5);
		Contended contended = (Contended) ask(Duration.ofSeconds(1));
		this.nodes.get(1).listener.accept(this.owner.value());
		assertThat(isDone(contended.signal())).isFalse();
		this.nodes.get(2).listener.accept(this.owner.value());
		assertThat(isDone(contended.signal())).isTrue();
	}

	@Test
	void nodesThatGrantedAClaimBesideAnotherLeaseMustNotifyIt() {
		respond(0, 1, ScriptedNode.GRANTED);
		respond(1, 3, ScriptedNode.REJECTED);
		down(3, 5);
		Contended contended = (Contended) ask(Duration.ofSeconds(1));
		this.nodes.get(1).listener.accept(this.owner.value());
		this.nodes.get(2).listener.accept(this.owner.value());
		assertThat(isDone(contended.signal())).isFalse();
		this.nodes.get(0).listener.accept(this.owner.value());
		assertThat(isDone(contended.signal())).isTrue();
	}

	/** Otherwise the first attempt, which will not retry, could remove the position. */
	@Test
	void attemptAfterADemandFollowsThePreviousOneAtEachNode() {
		respond(0, 4, REJECTED_AND_DEMANDED);
		CompletableFuture<List<Object>> late = new CompletableFuture<>();
		this.nodes.get(4).acquired = late;
		ask(Duration.ZERO);
		this.nodes.subList(2, 4).forEach((node) -> node.acquired = new CompletableFuture<>());
		this.backend.tryAcquire(claim(Duration.ofSeconds(1)));
		assertThat(this.nodes).extracting((node) -> node.attempts).containsExactly(2, 2, 2, 2, 1);
		late.complete(REJECTED_AND_DEMANDED);
		assertThat(this.nodes).extracting((node) -> node.attempts).containsExactly(2, 2, 2, 2, 2);
	}

	@Test
	void leaseIsNotStickyIfAMinorityNotifiesItsInstance() {
		List<ScriptedNode> deaf = ScriptedNode.nodes(5);
		deaf.subList(2, 5).forEach((node) -> node.subscribes = false);
		deaf.forEach((node) -> node.acquired = CompletableFuture.completedFuture(ScriptedNode.GRANTED));
		RedlockLockBackend other = ScriptedNode.backend(deaf, new StoppedClock());
		other.verify();
		Acquired acquired = (Acquired) other.tryAcquire(claim(Duration.ZERO)).toCompletableFuture().join();
		assertThat(acquired.grant().sticky()).isFalse();
		assertThat(deaf).extracting((node) -> node.arguments).containsExactly(12, 12, 11, 11, 11);
	}

}
