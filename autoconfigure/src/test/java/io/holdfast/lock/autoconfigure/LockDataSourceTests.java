package io.holdfast.lock.autoconfigure;

import java.util.Map;
import java.util.UUID;

import javax.sql.CommonDataSource;
import javax.sql.DataSource;

import io.r2dbc.spi.ConnectionFactory;
import jakarta.transaction.UserTransaction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Primary;
import org.springframework.dao.InvalidDataAccessResourceUsageException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.AbstractDriverBasedDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.jta.JtaTransactionManager;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockConfigurationException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.Mockito.mock;

/**
 * Tests for the data sources of locks and fences: proxies, routing, several of them, and
 * tables that differ.
 */
@ExtendWith(OutputCaptureExtension.class)
class LockDataSourceTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(DistributedLockAutoConfiguration.class, LocalLockAutoConfiguration.class,
						JdbcLockAutoConfiguration.class, LockInterceptorAutoConfiguration.class,
						LockTransactionAutoConfiguration.class, FencingAutoConfiguration.class,
						JdbcTemplateAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class,
						TransactionAutoConfiguration.class, AopAutoConfiguration.class))
		.withBean(Shop.class)
		.withPropertyValues("distributed-lock.backend=local");

	@Test
	void transactionsOfATransactionAwareProxyAreFenced() {
		this.runner.withBean(DataSource.class, () -> new TransactionAwareDataSourceProxy(database()))
			.run((context) -> assertThat(context.getBean(Shop.class).fencesDuring()).isOne());
	}

	@Test
	void transactionsOfALazyProxyAreFenced() {
		this.runner.withBean(DataSource.class, () -> new LazyConnectionDataSourceProxy(database()))
			.run((context) -> assertThat(context.getBean(Shop.class).fencesDuring()).isOne());
	}

	@Test
	void fenceThatNoTransactionPassesStopsTheStartIfItIsRequested() {
		this.runner.withUserConfiguration(TwoDataSources.class)
			.withPropertyValues("distributed-lock.fencing.data-source=locks",
					"distributed-lock.fencing.initialize-schema=always")
			.run((context) -> assertThat(context).getFailure()
				.message()
				.contains("No transaction is fenced, although 'distributed-lock.fencing.data-source=locks' is set",
						"the fenced data source is 'locks', but no transaction manager uses it",
						"('transactionManager' uses 'orders')"));
	}

	@Test
	void fenceThatNoTransactionPassesIsReportedOtherwise(CapturedOutput output) {
		this.runner.withUserConfiguration(TwoDataSources.class)
			.run((context) -> assertThat(output).doesNotContain("No transaction is fenced"));
		this.runner.withUserConfiguration(OtherManager.class)
			.run((context) -> assertThat(output).contains("WARN",
					"No transaction is fenced: the fenced data source is 'orders', but no transaction manager uses it"));
	}

	@Test
	void transactionManagerOfJtaIsReportedAsUnfenced(CapturedOutput output) {
		this.runner.withUserConfiguration(ManagerOfJta.class)
			.withPropertyValues("distributed-lock.fencing.enabled=true")
			.run((context) -> assertThat(output).doesNotContain("binds no connection"));
		this.runner.withUserConfiguration(ManagerOfJta.class)
			.run((context) -> assertThat(output).contains("WARN",
					"Transactions of 'manager' are not fenced: a transaction of JTA binds no connection when it begins",
					"JdbcFencingGuard.on(connection).advance(handle)"));
	}

	@Test
	void locksInARoutingDataSourceStopTheStart() {
		this.runner.withBean("tenants", DataSource.class, LockDataSourceTests::routing)
			.withPropertyValues("distributed-lock.backend=jdbc")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContainingAll("Locks cannot be kept in data source 'tenants', because it routes",
						"'distributed-lock.jdbc.data-source'"));
	}

	@Test
	void locksBesideARoutingDataSourceWork() {
		this.runner.withBean("tenants", DataSource.class, LockDataSourceTests::routing, (bean) -> bean.setPrimary(true))
			.withBean("locks", DataSource.class, LockDataSourceTests::database)
			.withPropertyValues("distributed-lock.backend=jdbc", "distributed-lock.jdbc.data-source=locks",
					"distributed-lock.jdbc.initialize-schema=always")
			.run((context) -> assertThat(context.getBean(Shop.class).fencesDuring()).isOne());
	}

	@Test
	void missingFenceTableInADatabaseIsExplained() {
		this.runner.withBean("tenants", DataSource.class, LockDataSourceTests::routing).run((context) -> {
			context.getBean(JdbcTemplate.class).execute("DROP TABLE holdfast_fence");
			assertThatExceptionOfType(InvalidDataAccessResourceUsageException.class)
				.isThrownBy(() -> context.getBean(Shop.class).fencesDuring())
				.withMessageContaining("the fence table cannot be used in the database of this transaction");
		});
	}

	@Test
	void fenceTableWithoutAColumnStopsTheStart() {
		AbstractDriverBasedDataSource database = database();
		new JdbcTemplate(database).execute(
				"CREATE TABLE holdfast_fence (lock_id CHAR(64) PRIMARY KEY, lock_name VARCHAR(255), token BIGINT)");
		this.runner.withBean("orders", DataSource.class, () -> database)
			.run((context) -> assertThat(context.getStartupFailure())
				.satisfies((failure) -> assertThat(failure).rootCause().hasMessageContaining("OWNER"))
				.hasStackTraceContaining("the table 'holdfast_fence' in data source 'orders' differs from the script"));
	}

	@Test
	void lockTableWithoutAColumnStopsTheStart() {
		AbstractDriverBasedDataSource database = database();
		this.runner.withBean("orders", DataSource.class, () -> database)
			.withPropertyValues("distributed-lock.backend=jdbc")
			.run((context) -> assertThat(context).hasNotFailed());
		new JdbcTemplate(database).execute("ALTER TABLE holdfast_lock DROP COLUMN waiter_until_us");
		this.runner.withBean("orders", DataSource.class, () -> database)
			.withPropertyValues("distributed-lock.backend=jdbc")
			.run((context) -> assertThat(context.getStartupFailure())
				.hasStackTraceContaining("of the backend 'jdbc' differ from the script")
				.hasStackTraceContaining("WAITER_UNTIL_US"));
	}

	@Test
	void beanThatIsNoDataSourceIsNamed() {
		this.runner.withBean("shop", Shop.class)
			.withBean("orders", DataSource.class, LockDataSourceTests::database)
			.withPropertyValues("distributed-lock.backend=jdbc", "distributed-lock.jdbc.data-source=shop")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(LockConfigurationException.class)
				.hasMessageContaining("'distributed-lock.jdbc.data-source' is 'shop', but no DataSource bean"));
	}

	/** The type of a bean that does not exist yet is the one that its method declares. */
	@Test
	void dataSourceOfAMethodWithAWiderTypeIsFound() {
		this.runner.withUserConfiguration(WiderType.class)
			.withPropertyValues("distributed-lock.backend=jdbc", "distributed-lock.jdbc.data-source=locks",
					"distributed-lock.jdbc.initialize-schema=always")
			.run((context) -> assertThat(context.getBean(Shop.class).fencesDuring()).isOne());
	}

	/** Spring Boot configures none beside it, whatever 'spring.datasource.*' says. */
	@Test
	void connectionFactoryThatReplacesTheDataSourceIsNamed() {
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
					JdbcLockAutoConfiguration.class, DataSourceAutoConfiguration.class))
			.withBean("reactive", ConnectionFactory.class, () -> mock(ConnectionFactory.class))
			.withPropertyValues("distributed-lock.backend=jdbc", "spring.datasource.url=jdbc:h2:mem:shop")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(LockConfigurationException.class)
				.hasMessageContainingAll("There is no DataSource bean", "because there is a ConnectionFactory of R2DBC",
						"Define a DataSource bean", "'distributed-lock.jdbc.data-source'"));
	}

	private static AbstractDriverBasedDataSource database() {
		return new DriverManagerDataSource("jdbc:h2:mem:%s;DB_CLOSE_DELAY=-1".formatted(UUID.randomUUID()));
	}

	private static DataSource routing() {
		AbstractRoutingDataSource routing = new AbstractRoutingDataSource() {

			@Override
			protected Object determineCurrentLookupKey() {
				return "a";
			}

		};
		routing.setTargetDataSources(Map.of("a", database()));
		return routing;
	}

	@Configuration(proxyBeanMethods = false)
	static class WiderType {

		@Bean
		DataSource orders() {
			return database();
		}

		@Lazy
		@Bean(defaultCandidate = false)
		CommonDataSource locks() {
			return database();
		}

	}

	static class Shop {

		private final JdbcTemplate jdbc;

		Shop(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@DistributedLock(name = "stock")
		@Transactional
		public int fencesDuring() {
			return this.jdbc.queryForList("SELECT token FROM holdfast_fence", Long.class).size();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class TwoDataSources {

		@Bean
		@Primary
		DataSource orders() {
			return database();
		}

		@Bean
		DataSource locks() {
			return database();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OtherManager {

		@Bean
		DataSource orders() {
			return database();
		}

		@Bean
		PlatformTransactionManager manager() {
			return new JdbcTransactionManager(database());
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ManagerOfJta {

		@Bean
		DataSource orders() {
			return database();
		}

		@Bean
		PlatformTransactionManager manager() {
			JtaTransactionManager manager = new JtaTransactionManager(mock(UserTransaction.class));
			manager.setAutodetectTransactionManager(false);
			return manager;
		}

	}

}
