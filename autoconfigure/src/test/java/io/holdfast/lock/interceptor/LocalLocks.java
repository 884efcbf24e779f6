package io.holdfast.lock.interceptor;

import java.time.Duration;
import java.util.function.Consumer;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;

import org.springframework.aop.framework.autoproxy.BeanNameAutoProxyCreator;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.Ordered;

import io.holdfast.lock.LockContext;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.autoconfigure.DistributedLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.LocalLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockInterceptorAutoConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Applications with annotated beans and local locks.
 */
final class LocalLocks {

	private LocalLocks() {
	}

	/** Returns an application without Spring Boot's support for AspectJ. */
	static ApplicationContextRunner plainRunner() {
		return new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
					LocalLockAutoConfiguration.class, LockInterceptorAutoConfiguration.class))
			.withPropertyValues("distributed-lock.backend=local");
	}

	static ApplicationContextRunner runner() {
		return plainRunner().withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class));
	}

	/**
	 * Adds an aspect around the bean named {@code bean}, which comes before the locks as
	 * Spring Boot orders it.
	 * @param settings changes how the proxy is created
	 */
	static ApplicationContextRunner withAspect(ApplicationContextRunner runner,
			Consumer<BeanNameAutoProxyCreator> settings) {
		return runner.withBean(BeanNameAutoProxyCreator.class, () -> {
			BeanNameAutoProxyCreator creator = new BeanNameAutoProxyCreator();
			creator.setBeanNames("bean");
			creator.setInterceptorNames("aspect");
			creator.setOrder(Ordered.HIGHEST_PRECEDENCE);
			settings.accept(creator);
			return creator;
		}).withBean("aspect", MethodInterceptor.class, () -> MethodInvocation::proceed);
	}

	/** Runs an application with one bean of the given type. */
	static <T> void with(Class<T> type, Consumer<T> test) {
		with(type, runner(), test);
	}

	static <T> void with(Class<T> type, ApplicationContextRunner runner, Consumer<T> test) {
		runner.withBean(type).run((context) -> {
			assertThat(context).hasNotFailed();
			test.accept(context.getBean(type));
		});
	}

	/** Returns the innermost lock of the current thread, or {@code none}. */
	static String held() {
		return LockHandle.current().map((handle) -> handle.lock().toString()).orElse("none");
	}

	/** Returns all locks of the current thread, such as {@code [stock:42]}. */
	static String allHeld() {
		return LockContext.handles().stream().map((handle) -> handle.lock().toString()).toList().toString();
	}

	/** Runs a test while another caller holds the lock. */
	static void whileHeld(AssertableApplicationContext context, String lock, Runnable test) {
		assertThat(context).hasNotFailed();
		LockHandle handle = context.getBean(LockOperations.class)
			.acquireAsync(LockRequest.forLock(LockName.parse(lock)).build())
			.toCompletableFuture()
			.join();
		try (handle) {
			test.run();
		}
	}

	static LockRequest nonWaiting(String name) {
		return LockRequest.of(name).toBuilder().waitTime(Duration.ZERO).build();
	}

}
