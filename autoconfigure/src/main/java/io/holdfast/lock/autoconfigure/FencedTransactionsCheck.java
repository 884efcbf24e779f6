package io.holdfast.lock.autoconfigure;

import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

import javax.sql.DataSource;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.transaction.PlatformTransactionManager;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.fencing.Fence;
import io.holdfast.lock.fencing.TransactionFence;

/**
 * Reports a fence that no transaction of the application's transaction managers passes,
 * and fails if a setting asks for it. Also reports managers of JTA.
 */
final class FencedTransactionsCheck implements SmartInitializingSingleton {

	private static final Log logger = LogFactory.getLog(FencedTransactionsCheck.class);

	private static final String JTA = "org.springframework.transaction.jta.JtaTransactionManager";

	private final ObjectProvider<Fence> fence;

	private final FencingProperties fencing;

	private final ListableBeanFactory beanFactory;

	FencedTransactionsCheck(ObjectProvider<Fence> fence, FencingProperties fencing, ListableBeanFactory beanFactory) {
		this.fence = fence;
		this.fencing = fencing;
		this.beanFactory = beanFactory;
	}

	@Override
	public void afterSingletonsInstantiated() {
		if (!(this.fence.getIfAvailable() instanceof TransactionFence transactions)) {
			return;
		}
		String[] managers = this.beanFactory.getBeanNamesForType(PlatformTransactionManager.class, true, false);
		Map<String, DataSource> others = new TreeMap<>();
		for (String name : managers) {
			DataSource other = otherDataSource(transactions, name);
			if (other != null) {
				others.put(name, other);
			}
			reportJta(name);
		}
		if (managers.length > 0 && others.size() == managers.length) {
			report(transactions, others);
		}
	}

	/** A transaction manager that does not exist yet may use the fenced data source. */
	private @Nullable DataSource otherDataSource(TransactionFence transactions, String name) {
		return LockDatabase.isCreated(this.beanFactory, name)
				? transactions.otherDataSource(this.beanFactory.getBean(name, PlatformTransactionManager.class)) : null;
	}

	/** The setting confirms that the code passes the fence itself. */
	private void reportJta(String name) {
		Class<?> type = this.beanFactory.getType(name, false);
		if (this.fencing.enabled() == null && type != null && isJta(type)) {
			logger.warn(
					"Transactions of '%s' are not fenced: a transaction of JTA binds no connection when it begins. Call JdbcFencingGuard.on(connection).advance(handle) before its first read, and set 'distributed-lock.fencing.enabled' to 'true' if your code does so, or to 'false' if you need no fence."
						.formatted(name));
		}
	}

	/** Compares names, because the library of JTA is optional. */
	private static boolean isJta(Class<?> type) {
		for (Class<?> each = type; each != null; each = each.getSuperclass()) {
			if (each.getName().equals(JTA)) {
				return true;
			}
		}
		return false;
	}

	private void report(TransactionFence transactions, Map<String, DataSource> others) {
		String requestedBy = this.fencing.requestedBy();
		String uses = others.entrySet()
			.stream()
			.map((other) -> "'%s' uses %s".formatted(other.getKey(),
					LockDatabase.nameOf(other.getValue(), this.beanFactory)))
			.collect(Collectors.joining(", "));
		String message = "No transaction is fenced%s: the fenced data source is %s, but no transaction manager uses it (%s). Name the data source to which the transactions write in 'distributed-lock.fencing.data-source', or set 'distributed-lock.fencing.enabled=false'."
			.formatted((requestedBy != null) ? ", although 'distributed-lock.fencing.%s' is set".formatted(requestedBy)
					: "", LockDatabase.nameOf(transactions.dataSource(), this.beanFactory), uses);
		if (requestedBy != null) {
			throw new LockConfigurationException(message);
		}
		logger.warn(message);
	}

}
