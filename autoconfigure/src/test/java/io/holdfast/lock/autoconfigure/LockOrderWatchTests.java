package io.holdfast.lock.autoconfigure;

import java.lang.reflect.Method;
import java.util.List;
import java.util.function.Consumer;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.holdfast.lock.LockName;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.spi.TransactionBoundary;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link LockOrderWatch} in an engine of the auto-configuration.
 */
@ExtendWith(OutputCaptureExtension.class)
class LockOrderWatchTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner().withConfiguration(
			AutoConfigurations.of(DistributedLockAutoConfiguration.class, LocalLockAutoConfiguration.class));

	private void watched(Consumer<LockOperations> body) {
		this.runner.withPropertyValues("distributed-lock.watch-lock-order=true")
			.run((context) -> body.accept(context.getBean(LockOperations.class)));
	}

	private static void nested(LockOperations locks, LockRequest outer, LockRequest inner) {
		locks.execute(outer, (handle) -> locks.execute(inner, (nested) -> "done"));
	}

	@Test
	void contradictoryOrdersAreReportedOnceWithBothCallSites(CapturedOutput output) {
		watched((locks) -> {
			for (int i = 0; i < 3; i++) {
				nested(locks, LockRequest.of("stock", i), LockRequest.of("payment", i));
				nested(locks, LockRequest.of("payment", i), LockRequest.of("stock", i));
			}
		});
		assertThat(output.getAll().split("are acquired in opposite orders", -1)).hasSize(2);
		assertThat(output).contains("'stock' while 'payment' is held").contains("LockOrderWatchTests.java:");
	}

	@Test
	void keysOfOneNameAreComparedByKey(CapturedOutput output) {
		watched((locks) -> {
			nested(locks, LockRequest.of("stock", 1), LockRequest.of("stock", 2));
			nested(locks, LockRequest.of("stock", 2), LockRequest.of("stock", 3));
			assertThat(output).doesNotContain("opposite orders");
			nested(locks, LockRequest.of("stock", 2), LockRequest.of("stock", 1));
		});
		assertThat(output).contains("'stock:2' and 'stock:1' are acquired in opposite orders");
	}

	@Test
	void oneRequestForSeveralIsNeverContradictory(CapturedOutput output) {
		watched((locks) -> {
			locks.execute(LockRequest.forLocks(List.of(LockName.of("b"), LockName.of("a"))).build(),
					(handle) -> "done");
			locks.execute(LockRequest.forLocks(List.of(LockName.of("a"), LockName.of("b"))).build(),
					(handle) -> "done");
		});
		assertThat(output).doesNotContain("opposite orders");
	}

	@Test
	void nothingIsWatchedUnlessEnabled(CapturedOutput output) {
		this.runner.run((context) -> {
			LockOperations locks = context.getBean(LockOperations.class);
			nested(locks, LockRequest.of("stock"), LockRequest.of("payment"));
			nested(locks, LockRequest.of("payment"), LockRequest.of("stock"));
		});
		assertThat(output).doesNotContain("opposite orders");
	}

	/** A method that is not overridden would not reach the application's boundary. */
	@Test
	void everyOtherDecisionIsForwarded() {
		assertThat(TransactionBoundary.class.getDeclaredMethods()).filteredOn(Method::isDefault)
			.isNotEmpty()
			.allSatisfy((method) -> assertThat(
					LockOrderWatch.class.getDeclaredMethod(method.getName(), method.getParameterTypes()))
				.isNotNull());
	}

}
