package io.holdfast.lock;

import java.util.List;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.holdfast.lock.backend.local.LocalLockBackend;
import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.engine.LockEngine;
import io.holdfast.lock.spi.TransactionBoundary;

import static io.holdfast.lock.test.EngineSettingsBuilder.settings;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the diagnosis of lock order in nested locks. This class is outside of the
 * engine's package because the diagnosis skips stack frames of that package.
 */
@ExtendWith(OutputCaptureExtension.class)
class LockOrderWatchTests {

	private LockEngine engine = engine(true);

	private static LockEngine engine(boolean watch) {
		return new LockEngine(new LockBackends(List.of(new LocalLockBackend()), "local"),
				settings().watchLockOrder(watch).build(), TransactionBoundary.NONE, List.of());
	}

	@AfterEach
	void close() {
		this.engine.close();
	}

	private void nested(LockRequest outer, LockRequest inner) {
		this.engine.execute(outer, (handle) -> this.engine.execute(inner, (nested) -> "done"));
	}

	@Test
	void contradictoryOrdersAreReportedOnceWithBothCallSites(CapturedOutput output) {
		for (int i = 0; i < 3; i++) {
			nested(LockRequest.of("stock", i), LockRequest.of("payment", i));
			nested(LockRequest.of("payment", i), LockRequest.of("stock", i));
		}
		assertThat(output.getAll().split("are acquired in opposite orders", -1)).hasSize(2);
		assertThat(output).contains("'stock' while 'payment' is held").contains("LockOrderWatchTests.java:");
	}

	@Test
	void keysOfOneNameAreComparedByKey(CapturedOutput output) {
		nested(LockRequest.of("stock", 1), LockRequest.of("stock", 2));
		nested(LockRequest.of("stock", 2), LockRequest.of("stock", 3));
		assertThat(output).doesNotContain("opposite orders");
		nested(LockRequest.of("stock", 2), LockRequest.of("stock", 1));
		assertThat(output).contains("'stock:2' and 'stock:1' are acquired in opposite orders");
	}

	@Test
	void oneRequestForSeveralIsNeverContradictory(CapturedOutput output) {
		this.engine.execute(LockRequest.forLocks(List.of(LockName.of("b"), LockName.of("a"))).build(),
				(handle) -> "done");
		this.engine.execute(LockRequest.forLocks(List.of(LockName.of("a"), LockName.of("b"))).build(),
				(handle) -> "done");
		assertThat(output).doesNotContain("opposite orders");
	}

	@Test
	void nothingIsWatchedUnlessEnabled(CapturedOutput output) {
		this.engine.close();
		this.engine = engine(false);
		nested(LockRequest.of("stock"), LockRequest.of("payment"));
		nested(LockRequest.of("payment"), LockRequest.of("stock"));
		assertThat(output).doesNotContain("opposite orders");
	}

}
