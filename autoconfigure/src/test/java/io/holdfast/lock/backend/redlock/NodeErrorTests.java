package io.holdfast.lock.backend.redlock;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.AcquireResult.Acquired;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.spi.ReleaseResult.Released;
import io.holdfast.lock.test.StoppedClock;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for unexpected errors of the client of one node of three, such as one of too
 * little memory.
 */
class NodeErrorTests {

	private final List<ScriptedNode> nodes = ScriptedNode.nodes(3);

	private final ScriptedNode failing = this.nodes.get(1);

	private final RedlockLockBackend backend = ScriptedNode.backend(this.nodes, new StoppedClock());

	@BeforeEach
	void connect() {
		this.backend.verify();
		this.nodes.forEach((node) -> node.acquired = CompletableFuture.completedFuture(ScriptedNode.GRANTED));
	}

	private void fail() {
		throw new NoClassDefFoundError("undeployed");
	}

	private void assertGrantedAndReleased() {
		Claim claim = new Claim(LockName.of("stock", "42"), OwnerId.random(), LockMode.EXCLUSIVE,
				Duration.ofSeconds(30), true, Duration.ofSeconds(1), false);
		Acquired acquired = (Acquired) this.backend.tryAcquire(claim).toCompletableFuture().join();
		assertThat(this.backend.release(acquired.grant()).toCompletableFuture().join()).isEqualTo(new Released());
	}

	/** Otherwise, the release, and later attempts, would wait for a response. */
	@Test
	void attemptThatThrowsCountsAsUnanswered() {
		this.failing.whenAttempted = this::fail;
		assertGrantedAndReleased();
		assertThat(this.backend.underWay()).isZero();
		this.failing.whenAttempted = () -> {
		};
		assertGrantedAndReleased();
		assertThat(this.nodes).extracting((node) -> node.attempts).containsExactly(2, 2, 2);
		assertThat(this.nodes).extracting((node) -> node.releases).containsExactly(2, 2, 2);
	}

}
