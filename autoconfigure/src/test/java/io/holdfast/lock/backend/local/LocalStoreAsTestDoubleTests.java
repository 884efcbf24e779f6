package io.holdfast.lock.backend.local;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockNotAcquiredException;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.autoconfigure.DistributedLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.LocalLockAutoConfiguration;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.OwnerId;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for the examples in {@code docs/how-to/test-with-the-local-store.md}.
 */
class LocalStoreAsTestDoubleTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(DistributedLockAutoConfiguration.class, LocalLockAutoConfiguration.class))
		.withUserConfiguration(ClockedStore.class)
		.withPropertyValues("distributed-lock.backend=local", "distributed-lock.wait-time=100ms",
				"distributed-lock.lease-time=1s");

	@Test
	void strangerKeepsTheLockBusy() {
		this.runner.run((context) -> {
			LockOperations locks = context.getBean(LockOperations.class);
			LocalLockBackend store = context.getBean(LocalLockBackend.class);
			// tag::stranger[]
			Claim stranger = new Claim(LockName.of("stock", "42"), OwnerId.random(), LockMode.EXCLUSIVE,
					Duration.ofMinutes(1), false, Duration.ZERO, false);
			store.tryAcquire(stranger);

			assertThatExceptionOfType(LockNotAcquiredException.class)
				.isThrownBy(() -> locks.acquire(LockRequest.of("stock", 42)));

			store.abandon(stranger);
			// end::stranger[]
			assertThat(locks.tryAcquire(LockRequest.of("stock", 42))).hasValueSatisfying(LockHandle::close);
		});
	}

	@Test
	void holderIsNotifiedThatItsLeaseHasExpired() {
		this.runner.run((context) -> {
			LockOperations locks = context.getBean(LockOperations.class);
			AtomicLong clock = context.getBean(AtomicLong.class);
			AtomicBoolean lost = new AtomicBoolean();
			// tag::lost[]
			try (LockHandle handle = locks.acquire(LockRequest.of("stock", 42))) {
				handle.onLost((event) -> lost.set(true));
				clock.addAndGet(Duration.ofSeconds(2).toNanos()); // longer than the lease
				Awaitility.await().untilTrue(lost);
			}
			// end::lost[]
		});
	}

	@Test
	void nothingIsLeftAfterATest() {
		this.runner.run((context) -> {
			LockOperations locks = context.getBean(LockOperations.class);
			LocalLockBackend store = context.getBean(LocalLockBackend.class);
			try (LockHandle handle = locks.acquire(LockRequest.of("stock", 42))) {
				assertThat(store.inUse()).containsExactly(handle.lock());
			}
			// tag::nothing[]
			Awaitility.await().until(() -> store.inUse().isEmpty());
			// end::nothing[]
		});
	}

	// tag::clock[]
	@TestConfiguration(proxyBeanMethods = false)
	static class ClockedStore {

		@Bean
		AtomicLong clock() {
			return new AtomicLong();
		}

		@Bean
		LocalLockBackend localLockBackend(AtomicLong clock) {
			return new LocalLockBackend(clock::get);
		}

	}
	// end::clock[]

}
