package io.holdfast.lock.autoconfigure;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockNotAcquiredException;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.test.PoorLockBackend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link DistributedLockAutoConfiguration}.
 */
@ExtendWith(OutputCaptureExtension.class)
class DistributedLockAutoConfigurationTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner().withConfiguration(
			AutoConfigurations.of(DistributedLockAutoConfiguration.class, LocalLockAutoConfiguration.class));

	@Test
	void localStoreIsTheDefaultAndIsLoggedOnce(CapturedOutput output) {
		this.runner.run((context) -> {
			assertThat(context.getBean(LockBackends.class).defaultName()).isEqualTo("local");
			assertThat(output.getAll().split("locks are kept in this JVM only", -1)).hasSize(2);
			assertThat(output).contains("WARN").contains("they do not exclude other instances of this application");
		});
	}

	@Test
	void localStoreByNameLogsNoWarning(CapturedOutput output) {
		this.runner.withPropertyValues("distributed-lock.backend=local").run((context) -> {
			assertThat(context).hasSingleBean(LockOperations.class);
			assertThat(output).doesNotContain("this JVM only");
		});
	}

	@Test
	void onlyConfiguredStoreIsTheDefault() {
		this.runner.withUserConfiguration(OneStore.class)
			.run((context) -> assertThat(context.getBean(LockBackends.class).defaultName()).isEqualTo("one"));
	}

	@Test
	void namedStoreIsTheDefault() {
		this.runner.withUserConfiguration(OneStore.class, AnotherStore.class)
			.withPropertyValues("distributed-lock.backend=Another")
			.run((context) -> assertThat(context.getBean(LockBackends.class).defaultName()).isEqualTo("another"));
	}

	@Test
	void severalStoresWithoutANameStopTheStart() {
		this.runner.withUserConfiguration(OneStore.class, AnotherStore.class)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("Several backends are configured")
				.hasMessageContaining("one")
				.hasMessageContaining("another")
				.hasMessageContaining("Set 'distributed-lock.backend'"));
	}

	@Test
	void missingStoreStopsTheStartWithTheRemedy() {
		this.runner.withPropertyValues("distributed-lock.backend=redis")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("'distributed-lock.backend' names it")
				.hasMessageContaining("its auto-configuration was not applied")
				.hasMessageContaining("[local]"));
	}

	@Test
	void durationOutOfRangeStopsTheStart() {
		this.runner.withPropertyValues("distributed-lock.lease-time=0s")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("'distributed-lock.lease-time' is 0ms"));
	}

	@Test
	void negativeStartupTimeoutStopsTheStart() {
		this.runner.withPropertyValues("distributed-lock.startup-timeout=-1s")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("'distributed-lock.startup-timeout' is -1s"));
	}

	@Test
	void stickyLeasesOfAStoreWithoutDemandStopTheStart() {
		this.runner.withUserConfiguration(OneStore.class)
			.withPropertyValues("distributed-lock.sticky=500ms")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("'distributed-lock.sticky'")
				.hasMessageContaining("'one'"));
	}

	@Test
	void stickyTimeThatALeaseCannotStayIsLogged(CapturedOutput output) {
		ApplicationContextRunner shortLease = this.runner.withPropertyValues("distributed-lock.backend=local",
				"distributed-lock.lease-time=9s");
		shortLease.withPropertyValues("distributed-lock.sticky=4500ms")
			.run((context) -> assertThat(output).doesNotContain("'distributed-lock.sticky'"));
		shortLease.withPropertyValues("distributed-lock.sticky=5s")
			.run((context) -> assertThat(output).contains("'distributed-lock.sticky' is 5s, but a lease of 9s")
				.contains("stays for 4.5s at most"));
	}

	@Test
	void stickyLeasesWhoseReleaseIsAwaitedStopTheStart() {
		this.runner
			.withPropertyValues("distributed-lock.backend=local", "distributed-lock.sticky=500ms",
					"distributed-lock.await-release=true")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("'distributed-lock.sticky'")
				.hasMessageContaining("'distributed-lock.await-release'"));
	}

	@Test
	void disabledLocksCreateNoLockOperations() {
		this.runner.withPropertyValues("distributed-lock.enabled=false")
			.run((context) -> assertThat(context).doesNotHaveBean(LockOperations.class));
	}

	@Test
	void propertiesAreTheDefaultsOfARequest() {
		this.runner
			.withPropertyValues("distributed-lock.backend=local", "distributed-lock.lease-time=1h",
					"distributed-lock.wait-time=0s")
			.run((context) -> {
				LockOperations locks = context.getBean(LockOperations.class);
				try (LockHandle handle = locks.acquire(LockRequest.of("stock", 42))) {
					assertThat(handle.remainingValidity()).isGreaterThan(Duration.ofMinutes(59));
					assertThat(
							CompletableFuture.supplyAsync(() -> locks.tryAcquire(LockRequest.of("stock", 42))).join())
						.isEmpty();
				}
			});
	}

	@Test
	void closedContextAcquiresNoLocks() {
		LockOperations[] locks = new LockOperations[1];
		this.runner.run((context) -> locks[0] = context.getBean(LockOperations.class));
		assertThatExceptionOfType(LockNotAcquiredException.class)
			.isThrownBy(() -> locks[0].acquire(LockRequest.of("stock")))
			.withMessageContaining("is stopping");
	}

	@Test
	void engineStopsAfterTheWebServerHasDrained() {
		this.runner.run((context) -> assertThat(context.getBean(LockEngineLifecycle.class).getPhase())
			.isLessThan(WebServerApplicationContext.START_STOP_LIFECYCLE_PHASE));
	}

	@Configuration(proxyBeanMethods = false)
	static class OneStore {

		@Bean
		LockBackend oneStore() {
			return new PoorLockBackend("one");
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class AnotherStore {

		@Bean
		LockBackend anotherStore() {
			return new PoorLockBackend("another");
		}

	}

}
