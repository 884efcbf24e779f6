package io.holdfast.lock.transaction;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;

import javax.sql.DataSource;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.event.TransactionPhase;
import org.springframework.transaction.event.TransactionalEventListener;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockContext;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.autoconfigure.DistributedLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.FencingAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockInterceptorAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockTransactionAutoConfiguration;
import io.holdfast.lock.backend.local.LocalLockBackend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNoException;

/**
 * Tests for a lock that is acquired after a transaction has completed, while Spring still
 * reports it as active.
 */
class AfterCompletionTests {

	/** The transaction manager, and the setting for a caller in a transaction. */
	enum Application {

		JDBC_HOLD, JPA_HOLD, JDBC_FAIL

	}

	private static final LocalLockBackend STORE = new LocalLockBackend();

	private static final List<String> COURSE = new ArrayList<>();

	private void run(Application application, Scenario scenario) {
		run(application, (runner) -> runner, scenario);
	}

	private void run(Application application, UnaryOperator<ApplicationContextRunner> more, Scenario scenario) {
		COURSE.clear();
		ApplicationContextRunner runner = new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
					LockInterceptorAutoConfiguration.class, LockTransactionAutoConfiguration.class,
					FencingAutoConfiguration.class, AopAutoConfiguration.class, TransactionAutoConfiguration.class,
					DataSourceAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class,
					JdbcTemplateAutoConfiguration.class))
			.withBean(LocalLockBackend.class, () -> STORE)
			.withBean(Shop.class)
			.withBean(Listener.class)
			.withBean(Audit.class)
			.withPropertyValues("distributed-lock.backend=local", "distributed-lock.wait-time=0s",
					"spring.datasource.generate-unique-name=true", "distributed-lock.transaction.when-active="
							+ ((application == Application.JDBC_FAIL) ? "fail" : "hold"));
		if (application == Application.JPA_HOLD) {
			runner = runner.withConfiguration(AutoConfigurations.of(HibernateJpaAutoConfiguration.class));
		}
		more.apply(runner).run((context) -> {
			assertThat(context).hasNotFailed();
			context.getBean(JdbcTemplate.class).execute("CREATE TABLE audit (text VARCHAR(100))");
			scenario.run(context);
			assertThat(STORE.inUse()).isEmpty();
			assertThat(LockContext.handles()).isEmpty();
		});
	}

	private static List<String> audit(AssertableApplicationContext context) {
		return context.getBean(JdbcTemplate.class).queryForList("SELECT text FROM audit ORDER BY text", String.class);
	}

	@ParameterizedTest
	@EnumSource
	void listenerAfterTheCommitHoldsItsLockUntilItReturns(Application application) {
		run(application, (context) -> {
			context.getBean(Shop.class).sell(false);
			assertThat(COURSE).containsExactly("sold", "mailed under [mail]", "audit free");
			assertThat(audit(context)).containsExactly("mailed");
		});
	}

	@ParameterizedTest
	@EnumSource
	void listenerAfterTheRollbackHoldsItsLockUntilItReturns(Application application) {
		run(application, (context) -> {
			assertThatExceptionOfType(IllegalStateException.class)
				.isThrownBy(() -> context.getBean(Shop.class).sell(true));
			assertThat(COURSE).containsExactly("sold", "undone under [undo]");
		});
	}

	@ParameterizedTest
	@EnumSource
	void lockThatCodeTakesAfterTheCommitIsReleasedAtReturn(Application application) {
		run(application, (context) -> {
			LockOperations locks = context.getBean(LockOperations.class);
			context.getBean(Shop.class).afterCommit(() -> {
				locks.execute(LockRequest.of("mail"), (handle) -> COURSE.add("held " + STORE.inUse().size()));
				COURSE.add("held " + STORE.inUse().size());
			});
			assertThat(COURSE).containsExactly("held 1", "held 0");
		});
	}

	@ParameterizedTest
	@EnumSource
	@DisplayName("A locked transaction after the commit is fenced, and it commits under its lock")
	void lockedTransactionAfterTheCommitCommitsUnderItsLock(Application application) {
		run(application, (context) -> {
			Audit audit = context.getBean(Audit.class);
			context.getBean(Shop.class).afterCommit(() -> {
				audit.write("new");
				audit.joined();
				context.getBean(LockOperations.class)
					.execute(LockRequest.of("audit"), (handle) -> context.getBean(JdbcTemplate.class)
						.update("INSERT INTO audit VALUES ('code')"));
				assertThat(CompletableFuture.supplyAsync(() -> audit(context)).join()).containsExactly("code", "joined",
						"new");
			});
			assertThat(audit(context)).containsExactly("code", "joined", "new");
			assertThat(context.getBean(JdbcTemplate.class)
				.queryForList("SELECT lock_name FROM holdfast_fence", String.class)).hasSize(2);
		});
	}

	@ParameterizedTest
	@EnumSource
	@DisplayName("A method that joins the finished transaction does not take its lock into that transaction")
	void methodThatJoinsTheFinishedTransactionLocksOutsideIt(Application application) {
		run(application, (context) -> {
			Shop shop = context.getBean(Shop.class);
			Audit audit = context.getBean(Audit.class);
			for (boolean late : new boolean[] { false, true }) {
				shop.after(late, () -> {
					shop.join(() -> audit.write("new"));
					shop.join(() -> {
						audit.joined();
						COURSE.add("held " + STORE.inUse().size());
						COURSE.add("stored " + CompletableFuture.supplyAsync(() -> audit(context)).join().size());
					});
				});
			}
			assertThat(COURSE).containsExactly("held 0", "stored 2", "held 0", "stored 4");
		});
	}

	@ParameterizedTest
	@EnumSource
	void exceptionOfTheCallIsNotReplacedByThatOfACallback(Application application) {
		run(application, (context) -> {
			LockOperations locks = context.getBean(LockOperations.class);
			context.getBean(Shop.class)
				.afterCommit(() -> assertThatIllegalStateException()
					.isThrownBy(() -> locks.execute(LockRequest.of("mail"), (handle) -> {
						TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

							@Override
							public void afterCommit() {
								COURSE.add("sent");
							}

						});
						throw new IllegalStateException("no");
					})));
			assertThat(COURSE).as("sent for a call that failed").isEmpty();
		});
	}

	/** The manager of a second data source, as Spring Boot documents it. */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	@DisplayName("A manager that is no default candidate is suspended, and one that is no bean is rejected")
	void managerThatIsNoDefaultCandidateIsSuspended(boolean bean) {
		run(Application.JDBC_HOLD, (runner) -> bean ? runner.withUserConfiguration(Second.class) : runner,
				(context) -> {
					PlatformTransactionManager second = bean
							? context.getBean("second", PlatformTransactionManager.class) : withListeners(context,
									new JdbcTransactionManager(new DriverManagerDataSource("jdbc:h2:mem:hidden")));
					LockOperations locks = context.getBean(LockOperations.class);
					new TransactionTemplate(second).executeWithoutResult((status) -> TransactionSynchronizationManager
						.registerSynchronization(new TransactionSynchronization() {

							@Override
							public void afterCommit() {
								assertThatNoException().isThrownBy(() -> COURSE.add(bean
										? locks.execute(LockRequest.of("mail"), (handle) -> second(context, second))
										: refused(locks)));
							}

						}));
					assertThat(COURSE).containsExactly(bean ? "1 stored" : "refused");
				});
	}

	private static PlatformTransactionManager withListeners(AssertableApplicationContext context,
			JdbcTransactionManager manager) {
		manager.setTransactionExecutionListeners(
				((ConfigurableTransactionManager) context.getBean(PlatformTransactionManager.class))
					.getTransactionExecutionListeners());
		return manager;
	}

	private static String second(AssertableApplicationContext context, PlatformTransactionManager second) {
		new TransactionTemplate(second).executeWithoutResult(
				(status) -> context.getBean(JdbcTemplate.class).update("INSERT INTO audit VALUES ('second')"));
		return CompletableFuture.supplyAsync(() -> audit(context)).join().size() + " stored";
	}

	private static String refused(LockOperations locks) {
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> locks.execute(LockRequest.of("mail"), (handle) -> null))
			.withMessageContaining("Publish the transaction manager as a bean");
		return "refused";
	}

	/**
	 * A second manager, which is injected by its name only.
	 */
	@Configuration(proxyBeanMethods = false)
	static class Second {

		@Bean(defaultCandidate = false)
		JdbcTransactionManager second(DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

	}

	/**
	 * The steps of a test.
	 */
	@FunctionalInterface
	interface Scenario {

		void run(AssertableApplicationContext context);

	}

	record Sold(boolean undone) {

	}

	static class Shop {

		private final ApplicationEventPublisher events;

		Shop(ApplicationEventPublisher events) {
			this.events = events;
		}

		@Transactional
		public void sell(boolean fail) {
			this.events.publishEvent(new Sold(fail));
			COURSE.add("sold");
			if (fail) {
				throw new IllegalStateException("no");
			}
		}

		@Transactional
		public void afterCommit(Runnable action) {
			after(false, action);
		}

		@Transactional
		public void after(boolean completion, Runnable action) {
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void afterCommit() {
					if (!completion) {
						action.run();
					}
				}

				@Override
				public void afterCompletion(int status) {
					if (completion) {
						action.run();
					}
				}

			});
		}

		@Transactional
		public void join(Runnable action) {
			action.run();
		}

	}

	static class Listener {

		private final Audit audit;

		Listener(Audit audit) {
			this.audit = audit;
		}

		@TransactionalEventListener
		@DistributedLock("mail")
		public void mail(Sold event) {
			COURSE.add("mailed under " + held());
			this.audit.write("mailed");
			COURSE.add((STORE.inUse().size() == 1) ? "audit free" : "audit held");
		}

		@TransactionalEventListener(phase = TransactionPhase.AFTER_ROLLBACK)
		@DistributedLock("undo")
		public void undo(Sold event) {
			COURSE.add("undone under " + held());
		}

		private static List<String> held() {
			return LockContext.handles().stream().map((handle) -> handle.lock().toString()).toList();
		}

	}

	static class Audit {

		private final JdbcTemplate jdbc;

		Audit(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@DistributedLock(name = "audit", fenced = true)
		@Transactional(propagation = Propagation.REQUIRES_NEW)
		public void write(String text) {
			this.jdbc.update("INSERT INTO audit VALUES (?)", text);
		}

		@DistributedLock(name = "joined", fenced = true)
		@Transactional
		public void joined() {
			this.jdbc.update("INSERT INTO audit VALUES ('joined')");
		}

	}

}
