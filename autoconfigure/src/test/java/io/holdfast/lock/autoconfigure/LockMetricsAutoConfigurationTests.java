package io.holdfast.lock.autoconfigure;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;

import javax.management.JMException;
import javax.management.ObjectName;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration;
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockLostEvent;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.test.Slow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

class LockMetricsAutoConfigurationTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withPropertyValues("distributed-lock.backend=local")
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
				LocalLockAutoConfiguration.class, LockMetricsAutoConfiguration.class));

	@Test
	void locksAreMeteredInTheRegistryOfBoot() {
		this.runner
			.withConfiguration(AutoConfigurations.of(MetricsAutoConfiguration.class,
					CompositeMeterRegistryAutoConfiguration.class, SimpleMetricsExportAutoConfiguration.class))
			.run((context) -> {
				MeterRegistry registry = context.getBean(MeterRegistry.class);
				try (LockHandle handle = context.getBean(LockOperations.class).acquire(LockRequest.of("stock", 42))) {
					assertThat(handle.isHeld()).isTrue();
					assertThat(registry.get("distributed.lock.held").tag("name", "stock").gauge().value()).isEqualTo(1);
				}
				assertThat(registry.get("distributed.lock.hold").timer().count()).isEqualTo(1);
			});
	}

	@Test
	void gaugesOfAClosedContextDoNotHideThoseOfTheNext() {
		MeterRegistry shared = new SimpleMeterRegistry();
		ApplicationContextRunner sharing = this.runner
			.withInitializer((context) -> context.getBeanFactory().registerSingleton("registry", shared));
		sharing.run((context) -> hold(context.getBean(LockOperations.class), 1));
		assertThat(shared.find("distributed.lock.held").gauge()).isNull();
		sharing.run((context) -> {
			try (LockHandle handle = context.getBean(LockOperations.class).acquire(LockRequest.of("stock", 42))) {
				sharing.run((second) -> hold(second.getBean(LockOperations.class), 1));
				assertThat(handle.isHeld()).isTrue();
				assertThat(shared.get("distributed.lock.held").gauge().value()).isEqualTo(1);
			}
		});
	}

	@Slow
	@Test
	void hundredThousandEndedHoldsOfOtherKeysAreNotRetained() {
		this.runner.withBean(MeterRegistry.class, SimpleMeterRegistry::new).run((context) -> {
			LockOperations locks = context.getBean(LockOperations.class);
			hold(locks, 1_000);
			long before = instances();
			hold(locks, 100_000);
			assertThat(instances() - before).isLessThan(1_000);
			MeterRegistry registry = context.getBean(MeterRegistry.class);
			assertThat(registry.get("distributed.lock.hold").timer().count()).isEqualTo(101_000);
			assertThat(registry.get("distributed.lock.held").gauge().value()).isZero();
		});
	}

	private static void hold(LockOperations locks, int times) {
		for (int key = 0; key < times; key++) {
			locks.acquire(LockRequest.of("stock", key)).close();
		}
	}

	/**
	 * Returns the number of live instances of this library's classes after a full
	 * collection.
	 */
	private static long instances() throws JMException {
		Object histogram = ManagementFactory.getPlatformMBeanServer()
			.invoke(new ObjectName("com.sun.management:type=DiagnosticCommand"), "gcClassHistogram",
					new Object[] { new String[0] }, new String[] { String[].class.getName() });
		return String.valueOf(histogram)
			.lines()
			.map((line) -> line.trim().split("\\s+"))
			.filter((columns) -> columns.length > 3 && columns[3].startsWith("io.holdfast.lock."))
			.mapToLong((columns) -> Long.parseLong(columns[1]))
			.sum();
	}

	@Test
	void withoutARegistryThereIsNoObserver() {
		this.runner.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean("micrometerLockObserver"));
	}

	@Test
	void micrometerIsOptional() {
		this.runner.withClassLoader(new FilteredClassLoader(MeterRegistry.class))
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean("micrometerLockObserver"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "distributed-lock.enabled", "distributed-lock.metrics.enabled" })
	void disabledLocksAreNotMetered(String property) {
		this.runner.withBean(MeterRegistry.class, SimpleMeterRegistry::new)
			.withPropertyValues(property + "=false")
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean("micrometerLockObserver"));
	}

	private ApplicationContextRunner observed() {
		return this.runner.withConfiguration(AutoConfigurations.of(LockObservationAutoConfiguration.class,
				MetricsAutoConfiguration.class, CompositeMeterRegistryAutoConfiguration.class,
				SimpleMetricsExportAutoConfiguration.class, ObservationAutoConfiguration.class));
	}

	@Test
	void lockMetersReplaceThoseOfTheObservations() {
		observed().run((context) -> {
			loseALock(context);
			Observation.createNotStarted("other", context.getBean(ObservationRegistry.class)).observe(() -> {
			});
			assertThat(meters(context)).contains("distributed.lock.acquire", "distributed.lock.hold")
				.noneMatch((name) -> name.matches("distributed\\.lock\\.(acquisition|holding).*"));
			assertThat(context.getBean(MeterRegistry.class).find("other").timer()).as("meter of others").isNotNull();
		});
	}

	@Test
	void withoutLockMetersTheObservationsHaveMeters() {
		ApplicationContextRunner withoutMeters = observed()
			.withPropertyValues("distributed-lock.metrics.enabled=false");
		withoutMeters.run((context) -> {
			loseALock(context);
			await().untilAsserted(() -> assertThat(meters(context)).containsExactlyInAnyOrder(
					"distributed.lock.acquisition", "distributed.lock.acquisition.active", "distributed.lock.holding",
					"distributed.lock.holding.active", "distributed.lock.holding.lock.lost"));
		});
		withoutMeters.withPropertyValues("management.observations.enable.distributed.lock=false").run((context) -> {
			loseALock(context);
			assertThat(meters(context)).isEmpty();
		});
	}

	private static void loseALock(ApplicationContext context) {
		LockRequest request = LockRequest.forLock(LockName.of("stock", 42))
			.leaseTime(Duration.ofMillis(50))
			.renew(false)
			.build();
		CompletableFuture<LockLostEvent> lost = new CompletableFuture<>();
		try (LockHandle handle = context.getBean(LockOperations.class).acquire(request)) {
			handle.onLost(lost::complete);
			lost.join();
		}
	}

	private static Set<String> meters(ApplicationContext context) {
		return context.getBean(MeterRegistry.class)
			.getMeters()
			.stream()
			.map((meter) -> meter.getId().getName())
			.filter((name) -> name.startsWith("distributed.lock"))
			.collect(Collectors.toSet());
	}

	@Test
	void negativeNumberOfNamesStopsTheStart() {
		this.runner.withBean(MeterRegistry.class, SimpleMeterRegistry::new)
			.withPropertyValues("distributed-lock.metrics.max-names=-1")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("'distributed-lock.metrics.max-names' is -1"));
	}

	@Test
	void propertyLimitsTheNamesWithMetersOfTheirOwn() {
		this.runner.withBean(MeterRegistry.class, SimpleMeterRegistry::new)
			.withPropertyValues("distributed-lock.metrics.max-names=1")
			.run((context) -> {
				LockOperations locks = context.getBean(LockOperations.class);
				locks.acquire(LockRequest.of("stock", 1)).close();
				locks.acquire(LockRequest.of("invoice", 1)).close();
				assertThat(context.getBean(MeterRegistry.class).get("distributed.lock.hold").timers())
					.extracting((timer) -> timer.getId().getTag("name"))
					.containsExactlyInAnyOrder("stock", "other");
			});
	}

}
