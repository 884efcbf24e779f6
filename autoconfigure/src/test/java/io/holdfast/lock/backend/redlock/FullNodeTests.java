package io.holdfast.lock.backend.redlock;

import java.util.concurrent.ExecutionException;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockName;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for nodes whose memory is full. Those whose disk is full reject writes likewise.
 */
class FullNodeTests extends FiveNodes {

	@Test
	void fullMemoryIsExplained() {
		nodes.each((node) -> node.ask("config", "set", "maxmemory", "1"));
		try {
			assertRejected("Raise its 'maxmemory'");
		}
		finally {
			nodes.each((node) -> node.ask("config", "set", "maxmemory", "0"));
		}
	}

	private void assertRejected(String remedy) {
		assertThatExceptionOfType(ExecutionException.class)
			.isThrownBy(() -> get(this.first.tryAcquire(claim(LockName.of("other"), LONGEST_LEASE))))
			.havingCause()
			.isInstanceOf(LockBackendException.class)
			.withMessageContaining(remedy)
			.satisfies((failure) -> assertThat(failure.getMessage()).doesNotContain("password")
				.doesNotContain("Check that the nodes are running"));
	}

}
