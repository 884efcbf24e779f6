package io.holdfast.lock.support;

import javax.sql.DataSource;

import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;

/**
 * Unwraps data sources that return the connection of the current transaction.
 */
public final class TransactionAwareDataSources {

	private TransactionAwareDataSources() {
	}

	/**
	 * Returns the data source whose connections take part in a transaction, which is also
	 * the one that Spring's transaction managers bind them to.
	 * @param dataSource the data source, or a proxy of it
	 * @return the data source behind all such proxies
	 */
	public static DataSource target(DataSource dataSource) {
		DataSource target = (dataSource instanceof TransactionAwareDataSourceProxy proxy) ? proxy.getTargetDataSource()
				: null;
		return (target != null) ? target(target) : dataSource;
	}

}
