package io.holdfast.verification.micro;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.autoconfigure.DistributedLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.LocalLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockInterceptorAutoConfiguration;

/**
 * Measures a call of an annotated method, beside the same call through
 * {@code LockOperations}. Both use the store in memory.
 *
 * @see MicroBenchmarks
 */
@State(Scope.Thread)
public class InterceptorBenchmark {

	private final AnnotationConfigApplicationContext context = context();

	private final Stock annotated = this.context.getBean(Stock.class);

	private final LockOperations locks = this.context.getBean(LockOperations.class);

	private final Stock plain = new Stock();

	private long id;

	private static AnnotationConfigApplicationContext context() {
		AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
		TestPropertyValues.of("distributed-lock.backend=local").applyTo(context);
		context.register(Application.class);
		context.refresh();
		return context;
	}

	@Benchmark
	public long annotated() {
		return this.annotated.reserve(nextId());
	}

	@Benchmark
	public long operations() {
		long wanted = nextId();
		return this.locks.execute(LockRequest.of("benchmark", wanted), (handle) -> this.plain.reserve(wanted));
	}

	/** Returns one of few keys, but none that the JVM keeps as an object. */
	private long nextId() {
		this.id = (this.id + 1) % 16;
		return 1000 + this.id;
	}

	@TearDown
	public void close() {
		this.context.close();
	}

	/** A bean as an application would write it. */
	static class Stock {

		private long reserved;

		@DistributedLock(name = "benchmark", key = "#id")
		public long reserve(long id) {
			return this.reserved += id;
		}

	}

	/** The part of the auto-configuration that an application without a store needs. */
	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ DistributedLockAutoConfiguration.class, LocalLockAutoConfiguration.class,
			LockInterceptorAutoConfiguration.class })
	@Import(Stock.class)
	static class Application {

	}

}
