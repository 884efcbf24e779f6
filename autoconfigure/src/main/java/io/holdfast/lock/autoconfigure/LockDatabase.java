package io.holdfast.lock.autoconfigure;

import java.util.List;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.SingletonBeanRegistry;
import org.springframework.boot.jdbc.DataSourceUnwrapper;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadata;
import org.springframework.boot.jdbc.metadata.DataSourcePoolMetadataProvider;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.transaction.support.TransactionSynchronizationUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

import io.holdfast.lock.LockConfigurationException;

/**
 * Finds the database for Holdfast's tables.
 */
final class LockDatabase {

	private static final String DATA_SOURCE_OF_LOCKS = "distributed-lock.jdbc.data-source";

	private static final String R2DBC = "io.r2dbc.spi.ConnectionFactory";

	private static final int FEW_CONNECTIONS = 2;

	private LockDatabase() {
	}

	/**
	 * Returns the named data source, or the application's own if no name is set.
	 * @param property the property that sets the name, for the message
	 * @throws LockConfigurationException if there is no such bean, no data source at all,
	 * or several without a primary one
	 */
	static DataSource dataSource(ListableBeanFactory beanFactory, String property, @Nullable String name) {
		if (StringUtils.hasText(name)) {
			// the type that its method declares may be wider, such as CommonDataSource
			if (beanFactory.containsBean(name) && beanFactory.getBean(name) instanceof DataSource named) {
				return named;
			}
			throw new LockConfigurationException(
					"The property '%s' is '%s', but no DataSource bean has that name. Name a DataSource bean, or remove the property to use the application's own."
						.formatted(property, name));
		}
		DataSource dataSource = beanFactory.getBeanProvider(DataSource.class).getIfUnique();
		if (dataSource == null) {
			throw new LockConfigurationException(isAmbiguous(beanFactory)
					? "There are several DataSource beans, %s, and none of them is primary. Name one with '%s'."
						.formatted(names(beanFactory), property)
					: "There is no DataSource bean%s, or name one with '%s'.".formatted(hasReactiveOne(beanFactory)
							? ", because there is a ConnectionFactory of R2DBC: Spring Boot then ignores 'spring.datasource.*'. Define a DataSource bean"
							: ". Set 'spring.datasource.*'", property));
		}
		return dataSource;
	}

	private static boolean hasReactiveOne(ListableBeanFactory beanFactory) {
		return ClassUtils.isPresent(R2DBC, null)
				&& beanFactory.getBeanNamesForType(ClassUtils.resolveClassName(R2DBC, null), true, false).length > 0;
	}

	/**
	 * Returns the data source in which locks are kept.
	 * @param name the name of its bean, or {@code null} for the application's own
	 * @throws LockConfigurationException if there is no such bean, or if it routes
	 */
	static DataSource ofLocks(ListableBeanFactory beanFactory, @Nullable String name) {
		DataSource dataSource = dataSource(beanFactory, DATA_SOURCE_OF_LOCKS, name);
		AbstractRoutingDataSource routing = DataSourceUnwrapper.unwrap(dataSource, AbstractRoutingDataSource.class);
		if (routing != null) {
			throw new LockConfigurationException(
					"Locks cannot be kept in data source %s, because it routes (%s): it may lead each caller to another database, and renewals have no caller. Name a DataSource bean that always leads to the same database in '%s'."
						.formatted(nameOf(dataSource, beanFactory), routing.getClass().getName(),
								DATA_SOURCE_OF_LOCKS));
		}
		return dataSource;
	}

	/** Whether there are several data sources, none of which is primary. */
	static boolean isAmbiguous(ListableBeanFactory beanFactory) {
		return names(beanFactory).size() > 1 && beanFactory.getBeanProvider(DataSource.class).getIfUnique() == null;
	}

	private static List<String> names(ListableBeanFactory beanFactory) {
		return List.of(beanFactory.getBeanNamesForType(DataSource.class, true, false));
	}

	/**
	 * Returns the text that names a data source in messages: its bean name if it is a
	 * bean, otherwise its own text. Creates no bean.
	 */
	static String nameOf(DataSource dataSource, ListableBeanFactory beanFactory) {
		Object wanted = TransactionSynchronizationUtils.unwrapResourceIfNecessary(dataSource);
		for (String name : beanFactory.getBeanNamesForType(DataSource.class, false, false)) {
			if (isCreated(beanFactory, name)
					&& TransactionSynchronizationUtils.unwrapResourceIfNecessary(beanFactory.getBean(name)) == wanted) {
				return "'" + name + "'";
			}
		}
		return dataSource.toString();
	}

	/** Whether a singleton exists, so that getting it creates no bean. */
	static boolean isCreated(ListableBeanFactory beanFactory, String name) {
		return beanFactory instanceof SingletonBeanRegistry beans && beans.containsSingleton(name);
	}

	/**
	 * Whether a connection can be kept for long without starving the application: its
	 * pool allows more than two connections, or the size of the pool is not known.
	 */
	static boolean hasConnectionToSpare(DataSource dataSource, ObjectProvider<DataSourcePoolMetadataProvider> pools) {
		for (DataSourcePoolMetadataProvider provider : pools) {
			DataSourcePoolMetadata pool = provider.getDataSourcePoolMetadata(dataSource);
			Integer most = (pool != null) ? pool.getMax() : null;
			if (most != null) {
				return most < 0 || most > FEW_CONNECTIONS;
			}
		}
		return true;
	}

}
