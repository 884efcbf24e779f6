package io.holdfast.lock.interceptor;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import jakarta.annotation.PostConstruct;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;

import io.holdfast.lock.DistributedLock;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that the container runs no locked method without its lock at the start or the end
 * of a bean's life.
 */
class LifecycleMethodTests {

	@ParameterizedTest
	@ValueSource(classes = { InitMethod.class, DestroyMethod.class, InferredShutdown.class, Closeable.class })
	void methodThatTheContainerCallsIsRefused(Class<?> configuration) {
		LocalLocks.plainRunner().withUserConfiguration(configuration).run((context) -> {
			assertThat(context).hasFailed();
			assertThat(context.getStartupFailure())
				.hasStackTraceContaining("the container calls it on the bean itself and not on its proxy");
		});
	}

	/** The container calls {@code stop(Runnable)}, whose default calls this one. */
	@Test
	void stopThatADefaultMethodCallsIsRefused() {
		RefusedBeans.refused(Consumer.class, "stop()", "the container calls it on the bean itself",
				"ContextClosedEvent");
	}

	@Test
	void startAndStopThatTheContainerCallsOnTheProxyAreLocked() {
		List<String> held = new ArrayList<>();
		LocalLocks.plainRunner().withBean(OwnStop.class, held).run((context) -> assertThat(context).hasNotFailed());
		assertThat(held).containsExactly("consumer", "consumer");
	}

	@Test
	void methodIsRefusedBeforeItRuns() {
		Migration.runs.set(0);
		LocalLocks.plainRunner().withBean(Migration.class).run((context) -> {
			assertThat(context).hasFailed();
			assertThat(Migration.runs).hasValue(0);
		});
	}

	@Test
	void methodThatTheContainerDoesNotCallIsAccepted() {
		LocalLocks.plainRunner()
			.withUserConfiguration(NeverCalled.class)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	/** The annotation of a class is meant for the calls of others. */
	@Test
	void containerClosesABeanOfALockedClassWithoutTheLock() {
		List<String> held = new ArrayList<>();
		LocalLocks.plainRunner().withBean(LockedClass.class, held).run((context) -> {
			assertThat(context).hasNotFailed();
			context.getBean(LockedClass.class).close();
		});
		assertThat(held).containsExactly("work", "none");
	}

	static class Migration {

		private static final AtomicInteger runs = new AtomicInteger();

		@PostConstruct
		@DistributedLock("migration")
		void migrate() {
			runs.incrementAndGet();
		}

	}

	static class Consumer implements SmartLifecycle {

		@Override
		public void start() {
		}

		@Override
		@DistributedLock("consumer")
		public void stop() {
		}

		@Override
		public boolean isRunning() {
			return true;
		}

	}

	static class OwnStop implements SmartLifecycle {

		private final List<String> held;

		private boolean running;

		OwnStop(List<String> held) {
			this.held = held;
		}

		@Override
		@DistributedLock("consumer")
		public void start() {
			this.running = true;
			this.held.add(LocalLocks.held());
		}

		@Override
		public void stop() {
			this.running = false;
		}

		@Override
		@DistributedLock("consumer")
		public void stop(Runnable callback) {
			this.held.add(LocalLocks.held());
			stop();
			callback.run();
		}

		@Override
		public boolean isRunning() {
			return this.running;
		}

	}

	static class Work {

		@DistributedLock("work")
		public void begin() {
		}

		@DistributedLock("work")
		public void shutdown() {
		}

	}

	static class Flushing implements AutoCloseable {

		@Override
		@DistributedLock("work")
		public void close() {
		}

	}

	@DistributedLock("work")
	static class LockedClass implements AutoCloseable {

		private final List<String> held;

		LockedClass(List<String> held) {
			this.held = held;
		}

		@Override
		public void close() {
			this.held.add(LocalLocks.held());
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class InitMethod {

		@Bean(initMethod = "begin", destroyMethod = "")
		Work work() {
			return new Work();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class DestroyMethod {

		@Bean(destroyMethod = "begin")
		Work work() {
			return new Work();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class InferredShutdown {

		@Bean
		Work work() {
			return new Work();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class NeverCalled {

		@Bean(destroyMethod = "")
		Flushing flushing() {
			return new Flushing();
		}

		@Bean
		@Scope("prototype")
		Flushing perUse() {
			return new Flushing();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Closeable {

		@Bean
		Flushing flushing() {
			return new Flushing();
		}

	}

}
