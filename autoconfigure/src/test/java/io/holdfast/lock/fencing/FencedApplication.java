package io.holdfast.lock.fencing;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;

import io.holdfast.lock.autoconfigure.DistributedLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.FencingAutoConfiguration;
import io.holdfast.lock.autoconfigure.LocalLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockInterceptorAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockTransactionAutoConfiguration;

/**
 * An application with local locks and JDBC transactions, which are fenced in a database
 * of its own.
 */
public final class FencedApplication {

	private FencedApplication() {
	}

	/**
	 * Returns the application.
	 * @return its runner
	 */
	public static ApplicationContextRunner runner() {
		return new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
					LocalLockAutoConfiguration.class, LockInterceptorAutoConfiguration.class,
					LockTransactionAutoConfiguration.class, FencingAutoConfiguration.class,
					DataSourceAutoConfiguration.class, JdbcTemplateAutoConfiguration.class,
					DataSourceTransactionManagerAutoConfiguration.class, TransactionAutoConfiguration.class))
			.withPropertyValues("distributed-lock.backend=local", "spring.datasource.generate-unique-name=true");
	}

}
