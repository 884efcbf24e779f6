package io.holdfast.lock.autoconfigure;

import java.sql.Connection;
import java.util.stream.Stream;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.scope.ScopedObject;
import org.springframework.beans.BeanWrapper;
import org.springframework.beans.PropertyAccessorFactory;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

import io.holdfast.lock.LockConfigurationException;

/**
 * Rejects a connection pool that leaves the transaction of a returned connection open, if
 * that transaction may read from a snapshot. The next transaction on the connection,
 * which may begin under a lock, would read from that snapshot, and no fence could tell.
 *
 * <p>
 * Only the settings of the pools of Tomcat and DBCP2 allow that. It happens to
 * connections that a pool keeps without auto-commit: elsewhere, no transaction outlasts a
 * read outside a transaction. The check reads settings only, because an application may
 * start without its database.
 */
final class PoolRollbackCheck implements BeanPostProcessor {

	/** Each of these settings ends the transaction of a returned connection. */
	private static final String[] ENDS_ON_RETURN = { "rollbackOnReturn", "commitOnReturn", "autoCommitOnReturn" };

	/** The pool leaves the isolation to the database. */
	private static final int UNKNOWN = -1;

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		// the object of a scope is a bean of its own
		if (bean instanceof DataSource dataSource && !(bean instanceof ScopedObject)
				&& pools(dataSource).anyMatch(PoolRollbackCheck::leavesSnapshotsOpen)) {
			throw new LockConfigurationException(
					"The connection pool '%s' is without auto-commit, does not roll back returned connections, and its isolation may be REPEATABLE READ or stricter. A read outside a transaction would then leave its snapshot to the next transaction on that connection, which may read data from before its lock and overwrite an update. Set 'rollbackOnReturn=true' of the pool, such as 'spring.datasource.tomcat.rollback-on-return=true', or enable its auto-commit, or set its default isolation to READ COMMITTED."
						.formatted(beanName));
		}
		return bean;
	}

	private static Stream<Object> pools(DataSource dataSource) {
		if (dataSource instanceof AbstractRoutingDataSource routing) {
			return targets(routing).flatMap(PoolRollbackCheck::pools);
		}
		Object target = (dataSource instanceof DelegatingDataSource proxy) ? proxy.getTargetDataSource()
				: AopProxyUtils.getSingletonTarget(dataSource);
		return (target instanceof DataSource inner) ? pools(inner) : Stream.of(dataSource);
	}

	/** The targets need not be beans. */
	private static Stream<DataSource> targets(AbstractRoutingDataSource routing) {
		try {
			return Stream.concat(routing.getResolvedDataSources().values().stream(),
					Stream.ofNullable(routing.getResolvedDefaultDataSource()));
		}
		catch (IllegalStateException ex) {
			// a subclass may find its targets in each call
			return Stream.of();
		}
	}

	private static boolean leavesSnapshotsOpen(Object pool) {
		BeanWrapper settings = PropertyAccessorFactory.forBeanPropertyAccess(pool);
		return settings.isReadableProperty(ENDS_ON_RETURN[0])
				&& Boolean.FALSE.equals(value(settings, "defaultAutoCommit"))
				&& Stream.of(ENDS_ON_RETURN).noneMatch((each) -> Boolean.TRUE.equals(value(settings, each)))
				&& (!(value(settings, "defaultTransactionIsolation") instanceof Integer level) || level == UNKNOWN
						|| level >= Connection.TRANSACTION_REPEATABLE_READ);
	}

	private static @Nullable Object value(BeanWrapper settings, String property) {
		return settings.isReadableProperty(property) ? settings.getPropertyValue(property) : null;
	}

}
