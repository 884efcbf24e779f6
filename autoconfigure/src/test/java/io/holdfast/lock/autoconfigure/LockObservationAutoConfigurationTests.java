package io.holdfast.lock.autoconfigure;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.micrometer.common.KeyValues;
import io.micrometer.observation.GlobalObservationConvention;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistryAssert;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.observation.DefaultLockObservationConvention;
import io.holdfast.lock.observation.LockObservationContext;
import io.holdfast.lock.observation.MdcLockObserver;
import io.holdfast.lock.observation.ObservationLockObserver;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests when locks are observed and when they are in the logging context.
 */
class LockObservationAutoConfigurationTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withPropertyValues("distributed-lock.backend=local")
		.withConfiguration(
				AutoConfigurations.of(DistributedLockAutoConfiguration.class, LocalLockAutoConfiguration.class,
						LockObservationAutoConfiguration.class, LockLoggingAutoConfiguration.class));

	private static String lock(LockOperations locks) {
		return locks.execute(LockRequest.of("stock", 42), (handle) -> String.valueOf(MDC.get("lock")));
	}

	@Test
	void locksAreObservedWithTheConventionOfTheApplication() {
		TestObservationRegistry registry = TestObservationRegistry.create();
		this.runner.withBean(ObservationRegistry.class, () -> registry).withBean(OwnConvention.class).run((context) -> {
			lock(context.getBean(LockOperations.class));
			TestObservationRegistryAssert.assertThat(registry)
				.hasObservationWithNameEqualTo("distributed.lock.holding")
				.that()
				.hasLowCardinalityKeyValue("team", "warehouse");
		});
	}

	@Test
	void locksAreObservedWithAGlobalConvention() {
		TestObservationRegistry registry = TestObservationRegistry.create();
		registry.observationConfig().observationConvention(new GlobalConvention());
		this.runner.withBean(ObservationRegistry.class, () -> registry).run((context) -> {
			lock(context.getBean(LockOperations.class));
			TestObservationRegistryAssert.assertThat(registry).hasObservationWithNameEqualTo("acme.lock");
		});
	}

	@Test
	void oneOfSeveralRegistriesIsNotChosen() {
		this.runner.withBean("one", ObservationRegistry.class, ObservationRegistry::create)
			.withBean("two", ObservationRegistry.class, ObservationRegistry::create)
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(ObservationLockObserver.class));
	}

	@Test
	void withoutARegistryNothingIsObserved() {
		this.runner.run((context) -> assertThat(context).doesNotHaveBean(ObservationLockObserver.class));
	}

	@Test
	void observationIsOptional() {
		this.runner.withClassLoader(new FilteredClassLoader(ObservationRegistry.class, MDC.class))
			.run((context) -> assertThat(context).hasNotFailed().hasSingleBean(LockOperations.class));
	}

	@Test
	void loggingContextHasTheLockOnlyIfThatIsEnabled() {
		this.runner.run((context) -> {
			assertThat(context).doesNotHaveBean(MdcLockObserver.class);
			assertThat(lock(context.getBean(LockOperations.class))).isEqualTo("null");
		});
		this.runner.withPropertyValues("distributed-lock.logging.mdc=true").run((context) -> {
			LockOperations locks = context.getBean(LockOperations.class);
			assertThat(lock(locks)).isEqualTo("stock:42");
			assertThat(locks
				.executeAsync(LockRequest.of("stock", 42),
						(handle) -> CompletableFuture.completedFuture(MDC.get("lock")))
				.toCompletableFuture()
				.get(1, TimeUnit.MINUTES)).isEqualTo("stock:42");
		});
	}

	static class OwnConvention extends DefaultLockObservationConvention {

		@Override
		public KeyValues getLowCardinalityKeyValues(LockObservationContext context) {
			return super.getLowCardinalityKeyValues(context).and("team", "warehouse");
		}

	}

	static class GlobalConvention extends DefaultLockObservationConvention
			implements GlobalObservationConvention<LockObservationContext> {

		@Override
		public String getName() {
			return "acme.lock";
		}

	}

}
