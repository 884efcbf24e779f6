package io.holdfast.lock.interceptor;

import org.springframework.boot.test.context.assertj.AssertableApplicationContext;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockConfigurationException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Asserts why a bean fails the startup.
 */
final class RefusedBeans {

	private RefusedBeans() {
	}

	static void refused(Class<?> type, String... messages) {
		LocalLocks.plainRunner().withBean(type).run((context) -> {
			assertThat(context).hasFailed();
			assertThat(failure(context)).message().contains("@DistributedLock on " + type.getName()).contains(messages);
		});
	}

	static LockConfigurationException failure(AssertableApplicationContext context) {
		Throwable failure = context.getStartupFailure();
		while (failure != null && !(failure instanceof LockConfigurationException)) {
			failure = failure.getCause();
		}
		assertThat(failure).isInstanceOf(LockConfigurationException.class);
		return (LockConfigurationException) failure;
	}

}
