package io.holdfast.lock.backend.redlock;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;

import io.lettuce.core.RedisCommandExecutionException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.AcquireResult.Acquired;
import io.holdfast.lock.spi.AcquireResult.Contended;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.spi.ReleaseResult.Indeterminate;
import io.holdfast.lock.spi.ReleaseResult.Released;
import io.holdfast.lock.test.StoppedClock;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for claims on three nodes, the last of which is late.
 */
class LateNodeTests {

	private final List<ScriptedNode> nodes = ScriptedNode.nodes(3);

	private final CompletableFuture<Object> connection = new CompletableFuture<>();

	private final RedlockLockBackend backend = ScriptedNode.backend(this.nodes, new StoppedClock());

	private final Claim claim = claim();

	@BeforeEach
	void delayTheConnection() {
		this.nodes.get(2).connected = this.connection;
	}

	private static Claim claim() {
		return new Claim(LockName.of("stock", "42"), OwnerId.random(), LockMode.EXCLUSIVE, Duration.ofSeconds(30), true,
				Duration.ofSeconds(1), false);
	}

	private CompletableFuture<AcquireResult> attempt(CompletableFuture<List<Object>> response) {
		this.nodes.forEach((node) -> node.acquired = response);
		return this.backend.tryAcquire(this.claim).toCompletableFuture();
	}

	@Test
	void claimIsNotReleasedOnANodeThatItNeverReached() {
		Acquired acquired = (Acquired) attempt(CompletableFuture.completedFuture(ScriptedNode.GRANTED)).join();
		this.connection.complete(1);
		assertThat(this.backend.release(acquired.grant()).toCompletableFuture().join()).isEqualTo(new Released());
		assertThat(this.nodes).extracting((node) -> node.attempts).containsExactly(1, 1, 0);
		assertThat(this.nodes).extracting((node) -> node.releases).containsExactly(1, 1, 0);
	}

	/** During an outage, nothing would remove what is noted of such claims. */
	@Test
	void rejectedClaimThatNeverReachedANodeIsForgotten() {
		this.nodes.forEach((node) -> node.acquired = CompletableFuture.completedFuture(ScriptedNode.REJECTED));
		Claim once = this.claim.withRemainingWait(Duration.ZERO);
		assertThat(this.backend.tryAcquire(once).toCompletableFuture().join()).isInstanceOf(Contended.class);
		this.connection.complete(1);
		this.backend.abandon(once);
		assertThat(this.nodes).extracting((node) -> node.attempts).containsExactly(1, 1, 0);
		assertThat(this.nodes).extracting((node) -> node.releases).as("nothing is known").containsExactly(1, 1, 1);
	}

	/** Two attempts await the connection, and only the second one is still wanted. */
	@Test
	void claimIsReleasedOnANodeThatOnlyItsSecondAttemptReached() {
		assertThat(attempt(CompletableFuture.completedFuture(ScriptedNode.REJECTED)).join())
			.isInstanceOf(Contended.class);
		CompletableFuture<List<Object>> response = new CompletableFuture<>();
		CompletableFuture<AcquireResult> second = attempt(response);
		this.connection.complete(1);
		response.complete(ScriptedNode.GRANTED);
		Acquired acquired = (Acquired) second.join();
		assertThat(this.backend.release(acquired.grant()).toCompletableFuture().join()).isEqualTo(new Released());
		assertThat(this.nodes).extracting((node) -> node.attempts).containsExactly(2, 2, 1);
		assertThat(this.nodes).extracting((node) -> node.releases).containsExactly(1, 1, 1);
	}

	/** The attempt reaches the node after the release, on another connection. */
	@Test
	void attemptThatComesAfterItsReleaseIsReleasedAgain() {
		this.connection.complete(1);
		this.backend.verify();
		ScriptedNode late = this.nodes.get(2);
		this.nodes.forEach((node) -> node.acquired = CompletableFuture.completedFuture(ScriptedNode.GRANTED));
		late.acquired = CompletableFuture.failedFuture(new TimeoutException());
		late.released = List.of(0L);
		assertGrantedAndReleased(this.claim);
		assertThat(late.releases).isOne();
		assertReleasedOnceItBlocksOthers(this.claim, late);
		assertGrantedAndReleased(claim());
		assertThat(late.releases).isEqualTo(4);
	}

	/**
	 * The release ends the first attempt, and the node processes the second one later.
	 */
	@Test
	void secondAttemptThatComesAfterTheReleaseIsReleasedAgain() {
		ScriptedNode late = unansweredAttempt();
		late.acquired = CompletableFuture.failedFuture(new TimeoutException());
		assertRemainsAreReleased(late);
	}

	/**
	 * The release ends the second attempt, and the first one comes later, as after the
	 * loss of a packet.
	 */
	@Test
	void firstAttemptThatComesAfterTheReleaseIsReleasedAgain() {
		assertRemainsAreReleased(unansweredAttempt());
	}

	private ScriptedNode unansweredNode() {
		this.connection.complete(1);
		this.backend.verify();
		this.nodes.forEach((node) -> node.acquired = CompletableFuture.completedFuture(ScriptedNode.REJECTED));
		return this.nodes.get(2);
	}

	private ScriptedNode unansweredAttempt() {
		ScriptedNode late = unansweredNode();
		assertUnansweredAttempt();
		this.nodes.forEach((node) -> node.acquired = CompletableFuture.completedFuture(ScriptedNode.GRANTED));
		return late;
	}

	private void assertUnansweredAttempt() {
		this.nodes.forEach((node) -> node.acquired = CompletableFuture.completedFuture(ScriptedNode.REJECTED));
		this.nodes.get(2).acquired = CompletableFuture.failedFuture(new TimeoutException());
		assertThat(this.backend.tryAcquire(this.claim).toCompletableFuture().join()).isInstanceOf(Contended.class);
	}

	private void assertRemainsAreReleased(ScriptedNode late) {
		late.released = List.of(1L);
		assertGrantedAndReleased(this.claim);
		assertReleasedWhenItBlocksOthers();
	}

	private void assertReleasedWhenItBlocksOthers() {
		ScriptedNode late = this.nodes.get(2);
		assertThat(this.backend.unconfirmed()).isOne();
		late.released = List.of(1L);
		late.acquired = CompletableFuture
			.completedFuture(List.of(0L, 5_000L, 1_000L, this.claim.owner().value(), 0L, 1L, 1L));
		int before = late.releases;
		assertGrantedAndReleased(claim());
		assertThat(late.releases).as("releases of both claims").isEqualTo(before + 2);
		assertThat(this.backend.unconfirmed()).isZero();
	}

	/** The first attempt fails only after the node has granted the second one. */
	@Test
	void firstAttemptThatFailsAfterTheGrantIsReleasedAgain() {
		CompletableFuture<List<Object>> first = pendingAttempt();
		Acquired acquired = (Acquired) this.backend.tryAcquire(this.claim).toCompletableFuture().join();
		first.completeExceptionally(new TimeoutException());
		assertThat(this.backend.release(acquired.grant()).toCompletableFuture().join()).isEqualTo(new Released());
		assertReleasedWhenItBlocksOthers();
	}

	/** A hold may be shorter than the time after which an attempt fails. */
	@Test
	void firstAttemptThatFailsAfterTheReleaseIsReleasedAgain() {
		CompletableFuture<List<Object>> first = pendingAttempt();
		assertGrantedAndReleased(this.claim);
		this.nodes.get(2).released = List.of(0L);
		first.completeExceptionally(new TimeoutException());
		assertReleasedWhenItBlocksOthers();
	}

	/** The first attempt fails when the release is sent, but not answered. */
	@Test
	void firstAttemptThatFailsDuringTheReleaseIsReleasedAgain() {
		CompletableFuture<List<Object>> first = pendingAttempt();
		ScriptedNode late = this.nodes.get(2);
		CompletableFuture<Object> release = new CompletableFuture<>();
		late.releasable = release;
		assertGrantedAndReleased(this.claim);
		assertThat(late.releases).isOne();
		first.completeExceptionally(new TimeoutException());
		release.complete(1);
		assertReleasedWhenItBlocksOthers();
	}

	/** The node processes one attempt before the release, and each other one after it. */
	@Test
	void threeAttemptsThatComeOneAfterAnotherAreReleasedEachTime() {
		ScriptedNode late = unansweredAttempt();
		assertUnansweredAttempt();
		this.nodes.subList(0, 2)
			.forEach((node) -> node.acquired = CompletableFuture.completedFuture(ScriptedNode.GRANTED));
		late.released = List.of(1L);
		assertGrantedAndReleased(this.claim);
		late.acquired = CompletableFuture
			.completedFuture(List.of(0L, 5_000L, 1_000L, this.claim.owner().value(), 0L, 1L, 1L));
		assertGrantedAndReleased(claim());
		assertThat(this.backend.unconfirmed()).as("the third attempt may come").isOne();
		assertReleasedWhenItBlocksOthers();
	}

	/** The first release has no response, and the next one finds nothing. */
	@Test
	void attemptThatComesAfterTheSecondReleaseIsReleasedAgain() {
		ScriptedNode late = unansweredNode();
		late.acquired = CompletableFuture.failedFuture(new TimeoutException());
		this.nodes.subList(0, 2)
			.forEach((node) -> node.acquired = CompletableFuture.completedFuture(ScriptedNode.GRANTED));
		this.nodes.forEach((node) -> node.releasable = CompletableFuture.failedFuture(new TimeoutException()));
		Acquired acquired = (Acquired) this.backend.tryAcquire(this.claim).toCompletableFuture().join();
		assertThat(this.backend.release(acquired.grant()).toCompletableFuture().join())
			.isInstanceOf(Indeterminate.class);
		this.nodes.forEach((node) -> node.releasable = CompletableFuture.completedFuture(1));
		late.released = List.of(0L);
		assertThat(this.backend.release(acquired.grant()).toCompletableFuture().join()).isEqualTo(new Released());
		assertReleasedWhenItBlocksOthers();
	}

	@Test
	void attemptThatIsGrantedAfterTheReleaseGetsNoPosition() {
		CompletableFuture<List<Object>> first = pendingAttempt();
		assertGrantedAndReleased(this.claim);
		first.complete(ScriptedNode.GRANTED);
		assertThat(this.nodes.get(2).positions).containsExactly(0L, 0L);
	}

	/** The last node has not answered the first attempt when it grants the second one. */
	private CompletableFuture<List<Object>> pendingAttempt() {
		ScriptedNode late = unansweredNode();
		CompletableFuture<List<Object>> first = new CompletableFuture<>();
		late.acquired = first;
		assertThat(this.backend.tryAcquire(this.claim).toCompletableFuture().join()).isInstanceOf(Contended.class);
		this.nodes.forEach((node) -> node.acquired = CompletableFuture.completedFuture(ScriptedNode.GRANTED));
		return first;
	}

	/** No release follows the rejection of a claim that does not wait. */
	@Test
	void attemptThatComesAfterItWasUndoneIsReleased() {
		this.connection.complete(1);
		this.backend.verify();
		ScriptedNode late = this.nodes.get(2);
		this.nodes.forEach((node) -> node.acquired = CompletableFuture.completedFuture(ScriptedNode.REJECTED));
		late.acquired = CompletableFuture.failedFuture(new TimeoutException());
		late.released = List.of(0L);
		Claim once = this.claim.withRemainingWait(Duration.ZERO);
		assertThat(this.backend.tryAcquire(once).toCompletableFuture().join()).isInstanceOf(Contended.class);
		assertThat(late.releases).isOne();
		this.nodes.forEach((node) -> node.acquired = CompletableFuture.completedFuture(ScriptedNode.GRANTED));
		assertReleasedOnceItBlocksOthers(once, late);
		assertGrantedAndReleased(claim());
		assertThat(late.releases).isEqualTo(4);
	}

	/** No release follows the rejection of the last attempt of a claim. */
	@Test
	void firstAttemptThatComesAfterTheLastWasRejectedIsReleased() {
		unansweredNode();
		assertUnansweredAttempt();
		assertLastAttemptIsRejected(ScriptedNode.REJECTED);
		assertReleasedWhenItBlocksOthers();
	}

	@Test
	void firstAttemptThatFailsAfterTheLastWasRejectedIsReleased() {
		CompletableFuture<List<Object>> first = pendingAttempt();
		this.nodes.get(2).released = List.of(0L);
		assertLastAttemptIsRejected(ScriptedNode.REJECTED);
		first.completeExceptionally(new TimeoutException());
		assertReleasedWhenItBlocksOthers();
	}

	/** The thread is paused between the nodes at which it undoes the last attempt. */
	@Test
	void firstAttemptThatFailsWhileTheLastIsUndoneIsReleased() {
		unansweredNode();
		ScriptedNode late = this.nodes.get(0);
		CompletableFuture<List<Object>> first = new CompletableFuture<>();
		late.acquired = first;
		late.released = List.of(0L);
		assertThat(this.backend.tryAcquire(this.claim).toCompletableFuture().join()).isInstanceOf(Contended.class);
		this.nodes.get(2).whenReleased = () -> first.completeExceptionally(new TimeoutException());
		assertLastAttemptIsRejected(ScriptedNode.GRANTED);
		assertReleasedOnceItBlocksOthers(this.claim, late);
	}

	/** The claim is withdrawn before the late node rejects its last attempt. */
	@Test
	void firstAttemptThatComesAfterTheWithdrawalIsReleasedAgain() {
		ScriptedNode late = unansweredNode();
		assertUnansweredAttempt();
		late.released = List.of(0L);
		CompletableFuture<List<Object>> rejection = new CompletableFuture<>();
		this.nodes.get(2).acquired = rejection;
		CompletionStage<AcquireResult> last = this.backend.tryAcquire(this.claim.withRemainingWait(Duration.ZERO));
		this.backend.abandon(this.claim);
		rejection.complete(ScriptedNode.REJECTED);
		assertThat(last.toCompletableFuture().join()).isInstanceOf(Contended.class);
		this.nodes.forEach((node) -> node.acquired = CompletableFuture.completedFuture(ScriptedNode.GRANTED));
		assertReleasedWhenItBlocksOthers();
	}

	private void assertLastAttemptIsRejected(List<Object> lastNode) {
		this.nodes.forEach((node) -> node.acquired = CompletableFuture.completedFuture(ScriptedNode.REJECTED));
		this.nodes.get(2).acquired = CompletableFuture.completedFuture(lastNode);
		Claim last = this.claim.withRemainingWait(Duration.ZERO);
		assertThat(this.backend.tryAcquire(last).toCompletableFuture().join()).isInstanceOf(Contended.class);
		this.nodes.forEach((node) -> node.acquired = CompletableFuture.completedFuture(ScriptedNode.GRANTED));
	}

	/** No release follows an attempt that the other nodes have denied. */
	@Test
	void attemptThatComesAfterItsClaimWasDeniedIsReleased() {
		this.connection.complete(1);
		this.backend.verify();
		ScriptedNode late = this.nodes.get(2);
		this.nodes.forEach((node) -> node.acquired = CompletableFuture
			.failedFuture(new RedisCommandExecutionException("NOPERM no permissions")));
		late.acquired = CompletableFuture.failedFuture(new TimeoutException());
		late.released = List.of(0L);
		assertThat(this.backend.tryAcquire(this.claim).toCompletableFuture()).isCompletedExceptionally();
		assertThat(late.releases).isOne();
		this.nodes.forEach((node) -> node.acquired = CompletableFuture.completedFuture(ScriptedNode.GRANTED));
		assertReleasedOnceItBlocksOthers(this.claim, late);
	}

	@Test
	void lateDenialOfAnEarlierAttemptDoesNotEndTheHold() {
		ScriptedNode late = this.nodes.get(2);
		Acquired acquired = grantedBeforeALateDenial(this.claim);
		late.acquired = CompletableFuture
			.completedFuture(List.of(0L, 5_000L, 1_000L, this.claim.owner().value(), 0L, 1L, 1L));
		assertGrantedAndReleased(claim());
		assertThat(late.ended).doesNotContain(this.claim.owner().value());
		late.released = List.of(1L);
		assertThat(this.backend.release(acquired.grant()).toCompletableFuture().join()).isEqualTo(new Released());
		assertThat(late.ended).contains(this.claim.owner().value());
	}

	@Test
	void lateDenialOfAnEarlierAttemptLeavesTheDemandOfTheLease() {
		Claim sticky = new Claim(this.claim.lock(), OwnerId.random(), LockMode.EXCLUSIVE, Duration.ofSeconds(30), true,
				Duration.ofSeconds(1), false, true);
		Acquired acquired = grantedBeforeALateDenial(sticky);
		this.nodes.get(0).listener.accept("wanted:" + sticky.owner().value());
		assertThat(acquired.grant().wanted().toCompletableFuture()).isCompleted();
		this.backend.release(acquired.grant());
		assertThat(this.backend.waiting()).isZero();
	}

	/**
	 * The process was paused, and makes its second attempt before it reads the responses
	 * to the first one, which the last node processes late.
	 */
	private Acquired grantedBeforeALateDenial(Claim claim) {
		this.connection.complete(1);
		this.backend.verify();
		CompletableFuture<List<Object>> denial = new CompletableFuture<>();
		CompletableFuture<List<Object>> missing = new CompletableFuture<>();
		this.nodes.forEach((node) -> node.acquired = denial);
		this.nodes.get(2).acquired = missing;
		this.nodes.get(2).released = List.of(0L);
		CompletableFuture<AcquireResult> first = this.backend.tryAcquire(claim).toCompletableFuture();
		this.nodes.forEach((node) -> node.acquired = CompletableFuture.completedFuture(ScriptedNode.GRANTED));
		Acquired acquired = (Acquired) this.backend.tryAcquire(claim).toCompletableFuture().join();
		denial.completeExceptionally(new RedisCommandExecutionException("NOPERM no permissions"));
		missing.completeExceptionally(new TimeoutException());
		assertThat(first).isCompletedExceptionally();
		return acquired;
	}

	/**
	 * The node rejects the next claim in favor of this one, and frees it at a release.
	 */
	private void assertReleasedOnceItBlocksOthers(Claim granted, ScriptedNode late) {
		late.acquired = CompletableFuture
			.completedFuture(List.of(0L, 5_000L, 1_000L, granted.owner().value(), 0L, 1L, 1L));
		late.released = List.of(1L);
		assertGrantedAndReleased(claim());
		assertThat(late.releases).isEqualTo(3);
	}

	private void assertGrantedAndReleased(Claim claim) {
		Acquired acquired = (Acquired) this.backend.tryAcquire(claim).toCompletableFuture().join();
		assertThat(this.backend.release(acquired.grant()).toCompletableFuture().join()).isEqualTo(new Released());
	}

}
