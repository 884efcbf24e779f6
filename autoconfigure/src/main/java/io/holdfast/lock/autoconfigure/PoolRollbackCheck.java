package io.holdfast.lock.autoconfigure;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.stream.Stream;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.beans.BeanWrapper;
import org.springframework.beans.PropertyAccessorFactory;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.jdbc.datasource.DelegatingDataSource;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.support.Failures;

/**
 * Rejects a connection pool that leaves the transaction of a returned connection open, if
 * that transaction reads from a snapshot. The next transaction on the connection, which
 * may begin under a lock, would read from that snapshot, and no fence could tell.
 *
 * <p>
 * Only the settings of the pools of Tomcat and DBCP2 allow that. It happens to
 * connections that a pool keeps without auto-commit: elsewhere, no transaction outlasts a
 * read outside a transaction.
 */
final class PoolRollbackCheck implements BeanPostProcessor {

	/** Each of these settings ends the transaction of a returned connection. */
	private static final String[] ENDS_ON_RETURN = { "rollbackOnReturn", "commitOnReturn", "autoCommitOnReturn" };

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		if (bean instanceof DataSource dataSource && leavesTransactionsOpen(pool(dataSource))) {
			String isolation = isolationOfSnapshots(dataSource);
			if (isolation != null) {
				throw new LockConfigurationException(
						"The connection pool '%s' is without auto-commit, does not roll back returned connections, and its isolation %s. A read outside a transaction would leave its snapshot to the next transaction on that connection, which may then read data from before its lock and overwrite an update. Set 'rollbackOnReturn=true' of the pool, such as 'spring.datasource.tomcat.rollback-on-return=true', or enable its auto-commit."
							.formatted(beanName, isolation));
			}
		}
		return bean;
	}

	private static Object pool(DataSource dataSource) {
		Object target = (dataSource instanceof DelegatingDataSource proxy) ? proxy.getTargetDataSource()
				: AopProxyUtils.getSingletonTarget(dataSource);
		return (target instanceof DataSource inner) ? pool(inner) : dataSource;
	}

	private static boolean leavesTransactionsOpen(Object pool) {
		BeanWrapper settings = PropertyAccessorFactory.forBeanPropertyAccess(pool);
		return settings.isReadableProperty(ENDS_ON_RETURN[0])
				&& Boolean.FALSE.equals(value(settings, "defaultAutoCommit"))
				&& Stream.of(ENDS_ON_RETURN).noneMatch((each) -> Boolean.TRUE.equals(value(settings, each)));
	}

	private static @Nullable Object value(BeanWrapper settings, String property) {
		return settings.isReadableProperty(property) ? settings.getPropertyValue(property) : null;
	}

	/**
	 * Returns how the transactions of a pool read, or {@code null} if each statement
	 * reads what has been committed.
	 */
	private static @Nullable String isolationOfSnapshots(DataSource dataSource) {
		try (Connection connection = dataSource.getConnection()) {
			int level = connection.getTransactionIsolation();
			// asking may have begun a transaction, which this pool would leave open
			connection.rollback();
			return (level < Connection.TRANSACTION_REPEATABLE_READ) ? null : "is REPEATABLE READ or stricter";
		}
		catch (SQLException ex) {
			return "cannot be read (%s), so it may be REPEATABLE READ".formatted(Failures.rootMessage(ex));
		}
	}

}
