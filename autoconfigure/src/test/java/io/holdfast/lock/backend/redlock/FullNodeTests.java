package io.holdfast.lock.backend.redlock;

import java.time.Duration;
import java.util.concurrent.ExecutionException;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.AcquireResult.Contended;
import io.holdfast.lock.spi.AcquireResult.Indeterminate;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.RenewResult.Renewed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for nodes that reject writes, mostly because their memory is full. Those whose
 * disk is full do so likewise.
 */
class FullNodeTests extends FiveNodes {

	@AfterEach
	void raiseTheLimit() {
		nodes.each((node) -> node.ask("config", "set", "maxmemory", "0"));
	}

	private static void fill() {
		nodes.each((node) -> node.ask("config", "set", "maxmemory", "1"));
	}

	@Test
	void fullMemoryIsExplained() {
		fill();
		assertRejected("Raise its 'maxmemory'");
	}

	@Test
	void missingReplicasAreExplained() {
		nodes.each((node) -> node.ask("config", "set", "min-replicas-to-write", "1"));
		try {
			// nodes that respond late on a busy machine are not explained
			Awaitility.await()
				.untilAsserted(() -> assertThat(get(this.first.tryAcquire(claim(LockName.of("other"), LONGEST_LEASE))))
					.isInstanceOfSatisfying(Indeterminate.class,
							(result) -> assertThat(result.cause())
								.hasMessageContaining("Connect its replicas, or lower its 'min-replicas-to-write'.")
								.hasMessageNotContaining("Check that the nodes are running")));
		}
		finally {
			nodes.each((node) -> node.ask("config", "set", "min-replicas-to-write", "0"));
		}
	}

	/** The lock must not end before its holder does: extending it needs no memory. */
	@Test
	void leasesAreRenewedWhileTheMemoryIsFull() throws Exception {
		Grant exclusive = granted(this.first, claim(LockName.of("stock", "exclusive"), LONGEST_LEASE));
		Grant reader = granted(this.first, shared());
		fill();
		for (int i = 0; i < 2; i++) {
			assertThat(renewed(this.first, exclusive)).isInstanceOf(Renewed.class);
			assertThat(renewed(this.first, reader)).isInstanceOf(Renewed.class);
		}
		released(this.first, exclusive);
		released(this.first, reader);
	}

	@Test
	void waiterIsNotifiedWhileTheMemoryIsFull() throws Exception {
		Grant grant = granted(this.first);
		Contended contended = refused(this.first, waiter("0", LockMode.EXCLUSIVE));
		fill();
		get(this.first.release(grant));
		assertThat(contended.signal()).succeedsWithin(Duration.ofSeconds(5));
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
