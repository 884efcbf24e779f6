package io.holdfast.lock.backend.redlock;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.List;
import java.util.concurrent.ExecutionException;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.test.server.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for nodes whose disk or memory is full.
 */
class FullNodeTests extends FiveNodes {

	@Test
	void fullDisksAreExplainedAndEndNoLease() throws Exception {
		Grant grant = granted(this.first);
		nodes.each(FullNodeTests::rejectWrites);
		try {
			assertRejected("often its disk is full");
			assertThat(get(this.first.renew(List.of(grant)))).first().isInstanceOf(RenewResult.Indeterminate.class);
		}
		finally {
			nodes.each((node) -> node.ask("config", "set", "save", ""));
		}
		assertThat(get(this.first.renew(List.of(grant)))).first().isInstanceOf(RenewResult.Renewed.class);
	}

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

	/** A failed snapshot has the same effect on writes as a full disk. */
	private static void rejectWrites(RedisServer node) {
		try {
			Files.createDirectories(node.directory().resolve("dump.rdb").resolve("occupied"));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		node.ask("config", "set", "save", "3600 1");
		node.ask("bgsave");
		Awaitility.await().until(() -> node.ask("set", "probe", "").startsWith("MISCONF"));
	}

}
