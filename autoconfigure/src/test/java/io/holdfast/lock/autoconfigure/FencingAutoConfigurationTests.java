package io.holdfast.lock.autoconfigure;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

import javax.sql.DataSource;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.aop.Advisor;
import org.springframework.aop.support.NameMatchMethodPointcutAdvisor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Transactional;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.StaleFencingTokenException;
import io.holdfast.lock.fencing.Fence;
import io.holdfast.lock.fencing.FencingGuard;
import io.holdfast.lock.test.FailingLog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link FencingAutoConfiguration}.
 */
@ExtendWith(OutputCaptureExtension.class)
class FencingAutoConfigurationTests {

	private final ApplicationContextRunner plain = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
				LocalLockAutoConfiguration.class, LockInterceptorAutoConfiguration.class,
				LockTransactionAutoConfiguration.class, LockMetricsAutoConfiguration.class,
				FencingAutoConfiguration.class, DataSourceAutoConfiguration.class, JdbcTemplateAutoConfiguration.class,
				DataSourceTransactionManagerAutoConfiguration.class, TransactionAutoConfiguration.class,
				AopAutoConfiguration.class))
		.withBean(MeterRegistry.class, SimpleMeterRegistry::new)
		.withPropertyValues("distributed-lock.backend=local", "spring.datasource.generate-unique-name=true");

	private final ApplicationContextRunner runner = this.plain.withBean(Shop.class);

	private static int fences(AssertableApplicationContext context) {
		return context.getBean(JdbcTemplate.class).queryForList("SELECT token FROM holdfast_fence", Long.class).size();
	}

	@Test
	void fencingIsEnabledWithADatabaseAndLogged(CapturedOutput output) {
		this.runner.run((context) -> {
			context.getBean(Shop.class).order(42, () -> assertThat(fences(context)).isOne());
			assertThat(output).contains(
					"Transactions of data source 'dataSource' that hold a lock are fenced by the table 'holdfast_fence'");
		});
	}

	@Test
	void overtakenHolderIsRefusedAndCounted() {
		this.runner.run((context) -> {
			Shop shop = context.getBean(Shop.class);
			shop.order(42, () -> {
			});
			JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
			jdbc.update("UPDATE holdfast_fence SET token = ?, owner = 'successor'", Long.MAX_VALUE);
			assertThatExceptionOfType(StaleFencingTokenException.class).isThrownBy(() -> shop.order(42, () -> {
				throw new AssertionError("the body ran");
			})).withMessageContainingAll("stock:42", "backend local");
			assertThat(context.getBean(MeterRegistry.class)
				.get("distributed.lock.fencing.rejected")
				.tags("name", "stock", "backend", "local")
				.counter()
				.count()).isOne();
		});
	}

	@Test
	void rejectionIsCountedThoughTheLogFails() {
		this.runner.run((context) -> {
			Shop shop = context.getBean(Shop.class);
			shop.order(42, () -> {
			});
			context.getBean(JdbcTemplate.class)
				.update("UPDATE holdfast_fence SET token = ?, owner = 'successor'", Long.MAX_VALUE);
			try (FailingLog log = FailingLog.ofPackage(FencingAutoConfiguration.class)) {
				assertThatExceptionOfType(StaleFencingTokenException.class).isThrownBy(() -> shop.order(42, () -> {
				}));
			}
			assertThat(context.getBean(MeterRegistry.class).get("distributed.lock.fencing.rejected").counter().count())
				.isOne();
		});
	}

	@Test
	void openHoldIsNamedWhenItFailsAnotherTransaction() {
		this.runner.run((context) -> {
			Shop shop = context.getBean(Shop.class);
			try (LockHandle unclosed = context.getBean(LockOperations.class).acquire(LockRequest.of("report"))) {
				shop.order(42, () -> {
				});
				context.getBean(JdbcTemplate.class)
					.update("UPDATE holdfast_fence SET token = ?, owner = 'successor' WHERE lock_name = ?",
							Long.MAX_VALUE, unclosed.lock().toString());
				assertThatExceptionOfType(StaleFencingTokenException.class).isThrownBy(() -> shop.order(42, () -> {
				})).withMessageContainingAll("'report'", "is not closed yet", "try-with-resources");
			}
			shop.order(42, () -> {
			});
		});
	}

	@Test
	void requiredFenceStopsACallWithoutATransaction() {
		this.runner.run((context) -> {
			assertThatExceptionOfType(LockConfigurationException.class)
				.isThrownBy(() -> context.getBean(Shop.class).fencedWithoutTransaction())
				.withMessageContainingAll("FencingAutoConfigurationTests$Shop.fencedWithoutTransaction()",
						"['stock:42']", "outside a transaction of the fenced data source ('dataSource')",
						"in a transaction of JTA, call JdbcFencingGuard.on(connection).advance(handle)");
			context.getBean(Shop.class).fenced(() -> assertThat(fences(context)).isOne());
		});
	}

	@Test
	@DisplayName("A required fence stops a call that advice has moved to a thread without the lock")
	void requiredFenceStopsACallOnAThreadWithoutTheLock() {
		this.runner.withUserConfiguration(OtherThread.class).run((context) -> {
			assertThatExceptionOfType(LockConfigurationException.class)
				.isThrownBy(() -> context.getBean(Shop.class).fenced(() -> {
					throw new AssertionError("the body ran");
				}))
				.withMessageContainingAll("Shop.fenced", "the thread that runs it ('bulkhead')", "holds no lock",
						"or LockOperations is a mock");
			assertThat(fences(context)).isZero();
		});
	}

	/**
	 * Advice outside the transaction that runs the rest of the call on its own thread.
	 */
	@Configuration(proxyBeanMethods = false)
	static class OtherThread {

		@Bean
		static Advisor bulkhead() {
			MethodInterceptor advice = (invocation) -> {
				FutureTask<Object> rest = new FutureTask<>(() -> {
					try {
						return invocation.proceed();
					}
					catch (Throwable ex) {
						throw (ex instanceof Exception failure) ? failure : new ExecutionException(ex);
					}
				});
				new Thread(rest, "bulkhead").start();
				try {
					return rest.get();
				}
				catch (ExecutionException ex) {
					throw ex.getCause();
				}
			};
			NameMatchMethodPointcutAdvisor advisor = new NameMatchMethodPointcutAdvisor(advice);
			advisor.setMappedName("fenced");
			advisor.setOrder(Ordered.LOWEST_PRECEDENCE - 50);
			return advisor;
		}

	}

	@Test
	void guardChecksTokensOnRequest() {
		this.runner.run((context) -> {
			try (LockHandle hold = context.getBean(LockOperations.class).acquire(LockRequest.of("stock", 42))) {
				assertThatExceptionOfType(LockConfigurationException.class)
					.isThrownBy(() -> context.getBean(FencingGuard.class).advance(hold))
					.withMessageContaining("no transaction");
			}
		});
	}

	@Test
	void missingTableDisablesFencingAndIsLogged(CapturedOutput output) {
		this.plain.withPropertyValues("distributed-lock.fencing.initialize-schema=never").run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(context.getBean(Fence.class).unfencedReason()).contains("'holdfast_fence' does not exist")
				.contains("io/holdfast/lock/fencing/schema.sql");
			assertThat(output).contains("Transactions are not fenced: the table 'holdfast_fence'");
		});
	}

	@Test
	void missingFenceOfATestSliceIsNotLogged(CapturedOutput output) {
		this.plain.withUserConfiguration(LockSlice.class)
			.withPropertyValues("distributed-lock.fencing.initialize-schema=never")
			.run((context) -> assertThat(context.getBean(Fence.class).unfencedReason())
				.contains("'holdfast_fence' does not exist"));
		assertThat(output).doesNotContain("not fenced");
	}

	@Test
	void requiredFenceWithoutATableStopsTheStart() {
		this.runner.withPropertyValues("distributed-lock.fencing.initialize-schema=never")
			.run((context) -> assertThat(context).getFailure()
				.hasMessageContaining("Shop.fenced")
				.hasMessageContaining("'fenced = true'")
				.hasMessageContaining("'holdfast_fence' does not exist or cannot be read in data source 'dataSource'")
				.hasMessageContaining("correct 'distributed-lock.fencing.table'"));
	}

	@ParameterizedTest
	@CsvSource({ "enabled=true, the table 'holdfast_fence' does not exist",
			"table=shop_fense, the table 'shop_fense' does not exist",
			"data-source=shopp, no DataSource bean has that name" })
	void requestedFenceThatCannotBeUsedStopsTheStart(String setting, String why) {
		this.plain
			.withPropertyValues("distributed-lock.fencing.initialize-schema=never",
					"distributed-lock.fencing." + setting)
			.run((context) -> assertThat(context.getStartupFailure()).hasStackTraceContaining(why)
				.hasStackTraceContaining("'distributed-lock.fencing." + setting + "' asks for"));
		this.plain
			.withPropertyValues("distributed-lock.fencing.table=shop_fense", "distributed-lock.fencing.enabled=false")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void fenceCanBeTurnedOff() {
		this.plain.withPropertyValues("distributed-lock.fencing.enabled=false")
			.run((context) -> assertThat(context.getBean(Fence.class).unfencedReason())
				.contains("enabled' is 'false'"));
		this.runner.withPropertyValues("distributed-lock.fencing.enabled=false")
			.run((context) -> assertThat(context).hasFailed());
	}

	@Test
	void oneOfSeveralDataSourcesMustBeNamed(CapturedOutput output) {
		ApplicationContextRunner several = this.plain
			.withBean("orders", DataSource.class,
					() -> new DriverManagerDataSource("jdbc:h2:mem:orders;DB_CLOSE_DELAY=-1"))
			.withBean("audit", DataSource.class,
					() -> new DriverManagerDataSource("jdbc:h2:mem:audit;DB_CLOSE_DELAY=-1"));
		several.run((context) -> assertThat(context.getBean(Fence.class).unfencedReason())
			.contains("There are several DataSource beans, [orders, audit]")
			.contains("distributed-lock.fencing.data-source"));
		assertThat(output).containsPattern("WARN.*Transactions are not fenced");
		several
			.withPropertyValues("distributed-lock.fencing.data-source=orders",
					"distributed-lock.fencing.initialize-schema=always")
			.run((context) -> assertThat(context.getBean(Fence.class).unfencedReason()).isNull());
	}

	private ApplicationContextRunner withTwoDatabases(Class<?> shop) {
		DataSource orders = new DriverManagerDataSource("jdbc:h2:mem:orders;DB_CLOSE_DELAY=-1");
		DataSource audit = new DriverManagerDataSource("jdbc:h2:mem:audit;DB_CLOSE_DELAY=-1");
		return this.plain.withBean(shop)
			.withBean("orders", DataSource.class, () -> orders)
			.withBean("audit", DataSource.class, () -> audit)
			.withBean("orderTransactions", PlatformTransactionManager.class, () -> new JdbcTransactionManager(orders))
			.withBean("auditTransactions", PlatformTransactionManager.class, () -> new JdbcTransactionManager(audit))
			.withPropertyValues("distributed-lock.fencing.data-source=orders",
					"distributed-lock.fencing.initialize-schema=always");
	}

	@Test
	void fencedTransactionOfAnotherDataSourceStopsTheStart() {
		withTwoDatabases(AuditShop.class).run((context) -> assertThat(context).getFailure()
			.isInstanceOf(LockConfigurationException.class)
			.hasMessageContainingAll("AuditShop.order()", "'fenced = true'",
					"its transaction uses data source 'audit', but the fenced data source is 'orders'",
					"'distributed-lock.fencing.data-source'"));
	}

	@Test
	void transactionOfTheFencedDataSourceOfSeveralIsFenced() {
		withTwoDatabases(OrderShop.class).run((context) -> {
			context.getBean(OrderShop.class).order();
			assertThat(new JdbcTemplate(context.getBean("orders", DataSource.class))
				.queryForList("SELECT token FROM holdfast_fence", Long.class)).hasSize(1);
		});
	}

	@Test
	void unknownDataSourceOfATransactionIsCheckedAtTheCall() {
		withTwoDatabases(AnyShop.class).run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void fencingIsDisabledWithoutADatabase() {
		this.plain.withClassLoader(new FilteredClassLoader(JdbcTemplate.class))
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(Fence.class));
		this.runner.withClassLoader(new FilteredClassLoader(JdbcTemplate.class))
			.run((context) -> assertThat(context).getFailure().hasMessageContaining("spring-boot-starter-jdbc"));
	}

	@Test
	void requiredFenceOfAChildContextWithoutOneStopsItsStart() {
		this.plain.run((parent) -> {
			ApplicationContextRunner child = new ApplicationContextRunner().withParent(parent)
				.withBean(Shop.class)
				.withConfiguration(AutoConfigurations.of(LockInterceptorAutoConfiguration.class));
			child.run((context) -> assertThat(context).getFailure()
				.hasMessageContainingAll("Shop.fenced", "a child without FencingAutoConfiguration"));
			child.withConfiguration(AutoConfigurations.of(FencingAutoConfiguration.class))
				.run((context) -> assertThat(context).hasNotFailed());
		});
	}

	@Test
	void invalidTableNameStopsTheStart() {
		this.plain.withPropertyValues("distributed-lock.fencing.table=fence; drop")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("'distributed-lock.fencing.table' is 'fence; drop'"));
	}

	/**
	 * Orders under a lock.
	 */
	public static class Shop {

		@DistributedLock(name = "stock", key = "#product")
		@Transactional
		public void order(long product, Runnable body) {
			body.run();
		}

		@DistributedLock(name = "stock", key = "'42'", fenced = true)
		@Transactional
		public void fenced(Runnable body) {
			body.run();
		}

		@DistributedLock(name = "stock", key = "'42'", fenced = true)
		public void fencedWithoutTransaction() {
		}

	}

	/**
	 * Service whose transaction manager is named on the class.
	 */
	@Transactional("auditTransactions")
	public static class AuditShop {

		@DistributedLock(name = "stock", fenced = true)
		public void order() {
		}

	}

	/**
	 * Service whose transaction manager is named on the method.
	 */
	public static class OrderShop {

		@DistributedLock(name = "stock", fenced = true)
		@Transactional(transactionManager = "orderTransactions")
		public void order() {
		}

	}

	/**
	 * Service that names neither of two transaction managers.
	 */
	public static class AnyShop {

		@DistributedLock(name = "stock", fenced = true)
		@Transactional
		public void order() {
		}

	}

}
