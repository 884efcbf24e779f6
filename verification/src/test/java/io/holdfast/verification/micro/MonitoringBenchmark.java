package io.holdfast.verification.micro;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration;
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;

import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.autoconfigure.DistributedLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.LocalLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockMetricsAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockObservationAutoConfiguration;

/**
 * Measures what the monitoring adds to one uncontended pair of acquire and close in an
 * application. Compare it with {@link EngineBenchmark#oneKey}, an engine without an
 * application. All use the store in memory.
 *
 * @see MicroBenchmarks
 */
public class MonitoringBenchmark {

	@Benchmark
	public void withoutRegistry(WithoutRegistry application) {
		application.pair();
	}

	@Benchmark
	public void observationsWithoutHandler(WithoutHandler application) {
		application.pair();
	}

	@Benchmark
	public void meters(WithMeters application) {
		application.pair();
	}

	@Benchmark
	public void actuator(WithActuator application) {
		application.pair();
	}

	@Benchmark
	public void actuatorWithDerivedMeters(WithDerivedMeters application) {
		application.pair();
	}

	/** The auto-configuration of the monitoring, without a registry. */
	@State(Scope.Thread)
	public static class WithoutRegistry {

		private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

		private final LockOperations locks;

		private final LockRequest request = LockRequest.of("benchmark", 0);

		public WithoutRegistry() {
			TestPropertyValues.of("distributed-lock.backend=local").applyTo(this.context);
			this.context.register(Application.class);
			register(this.context);
			this.context.refresh();
			this.locks = this.context.getBean(LockOperations.class);
		}

		void register(AnnotationConfigApplicationContext context) {
		}

		void pair() {
			this.locks.acquire(this.request).close();
		}

		@TearDown
		public void close() {
			this.context.close();
		}

	}

	/** A registry of observations for which there is no handler. */
	@State(Scope.Thread)
	public static class WithoutHandler extends WithoutRegistry {

		@Override
		void register(AnnotationConfigApplicationContext context) {
			context.registerBean(ObservationRegistry.class, ObservationRegistry::create);
		}

	}

	/** A registry of meters in memory. */
	@State(Scope.Thread)
	public static class WithMeters extends WithoutRegistry {

		@Override
		void register(AnnotationConfigApplicationContext context) {
			context.registerBean(MeterRegistry.class, SimpleMeterRegistry::new);
		}

	}

	/** Registries of meters and observations as Actuator configures them. */
	@State(Scope.Thread)
	public static class WithActuator extends WithoutRegistry {

		@Override
		void register(AnnotationConfigApplicationContext context) {
			context.register(Actuator.class);
		}

	}

	/** Actuator, which also derives meters from the observations of locks. */
	@State(Scope.Thread)
	public static class WithDerivedMeters extends WithActuator {

		@Override
		void register(AnnotationConfigApplicationContext context) {
			super.register(context);
			context.registerBean("lockMeterObservationHandler", Object.class, Object::new);
		}

	}

	/** The part of Actuator that concerns meters and observations. */
	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ MetricsAutoConfiguration.class, CompositeMeterRegistryAutoConfiguration.class,
			SimpleMetricsExportAutoConfiguration.class, ObservationAutoConfiguration.class })
	static class Actuator {

	}

	/** The part of the auto-configuration that concerns the engine. */
	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ DistributedLockAutoConfiguration.class, LocalLockAutoConfiguration.class,
			LockObservationAutoConfiguration.class, LockMetricsAutoConfiguration.class })
	static class Application {

	}

}
