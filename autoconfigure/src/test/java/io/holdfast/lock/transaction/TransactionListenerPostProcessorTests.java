package io.holdfast.lock.transaction;

import javax.sql.DataSource;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.holdfast.lock.autoconfigure.DistributedLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.FencingAutoConfiguration;
import io.holdfast.lock.autoconfigure.LocalLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockTransactionAutoConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that every transaction manager checks its commits, however it was created.
 */
@ExtendWith(OutputCaptureExtension.class)
class TransactionListenerPostProcessorTests {

	private static ApplicationContextRunner dataSource() {
		return new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class,
					DataSourceTransactionManagerAutoConfiguration.class, TransactionAutoConfiguration.class))
			.withPropertyValues("spring.datasource.generate-unique-name=true");
	}

	private static ApplicationContextRunner withLocks(ApplicationContextRunner runner) {
		return runner
			.withConfiguration(
					AutoConfigurations.of(DistributedLockAutoConfiguration.class, LocalLockAutoConfiguration.class,
							LockTransactionAutoConfiguration.class, FencingAutoConfiguration.class))
			.withPropertyValues("distributed-lock.backend=local");
	}

	private static void assertChecksCommits(PlatformTransactionManager manager) {
		assertThat(((ConfigurableTransactionManager) manager).getTransactionExecutionListeners())
			.extracting((listener) -> listener.getClass().getSimpleName())
			.containsExactlyInAnyOrder("LockCommitListener", "FenceListener");
	}

	@Test
	void managerBeanChecksCommits() {
		withLocks(dataSource())
			.run((context) -> assertChecksCommits(context.getBean(PlatformTransactionManager.class)));
	}

	@Test
	void managerOfATemplateThatIsNoBeanChecksCommits() {
		withLocks(dataSource()).withUserConfiguration(OwnTemplate.class).run((context) -> {
			PlatformTransactionManager own = context.getBean("own", TransactionTemplate.class).getTransactionManager();
			assertThat(own).isNotSameAs(context.getBean(PlatformTransactionManager.class));
			assertChecksCommits(own);
		});
	}

	@Test
	void managerOfTheParentContextChecksCommits() {
		dataSource().run((parent) -> withLocks(new ApplicationContextRunner()).withParent(parent)
			.run((context) -> assertChecksCommits(parent.getBean(PlatformTransactionManager.class))));
	}

	/** A list that another thread changes fails the iteration of a transaction. */
	@Test
	void transactionInProgressKeepsItsListeners() {
		dataSource().run((parent) -> {
			ConfigurableTransactionManager manager = parent.getBean(ConfigurableTransactionManager.class);
			manager.addListener(new TransactionExecutionListener() {

				@Override
				public void beforeCommit(TransactionExecution transaction) {
					withLocks(new ApplicationContextRunner()).withParent(parent)
						.run((context) -> assertThat(manager.getTransactionExecutionListeners()).hasSize(3));
				}

			});
			new TransactionTemplate((PlatformTransactionManager) manager).executeWithoutResult((status) -> {
			});
		});
	}

	@Test
	void managerThatAPostProcessorNeedsChecksCommits() {
		withLocks(dataSource()).withUserConfiguration(EarlyProcessor.class)
			.run((context) -> assertChecksCommits(context.getBean(PlatformTransactionManager.class)));
	}

	@Test
	void managerThatTakesNoListenerIsNamed(CapturedOutput output) {
		withLocks(dataSource()).withUserConfiguration(OwnManager.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).containsOnlyOnce("'ownManager'").contains("accepts no listener");
		});
	}

	@Test
	void managerWithoutCallbacksIsNamed(CapturedOutput output) {
		withLocks(dataSource()).withUserConfiguration(NoCallbacks.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).containsOnlyOnce("'noCallbacks'").contains("SYNCHRONIZATION_NEVER");
		});
	}

	/** A manager that runs no callbacks. */
	@Configuration(proxyBeanMethods = false)
	static class NoCallbacks {

		@Bean
		DataSourceTransactionManager noCallbacks(DataSource dataSource) {
			DataSourceTransactionManager manager = new DataSourceTransactionManager(dataSource);
			manager.setTransactionSynchronization(AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER);
			return manager;
		}

	}

	/** A template whose manager is no bean. */
	@Configuration(proxyBeanMethods = false)
	static class OwnTemplate {

		@Bean
		TransactionTemplate own(DataSource dataSource) {
			return new TransactionTemplate(new DataSourceTransactionManager(dataSource));
		}

	}

	/** A post-processor that needs the manager before other post-processors exist. */
	@Configuration(proxyBeanMethods = false)
	static class EarlyProcessor {

		@Bean
		static OrderedProcessor processor(PlatformTransactionManager manager) {
			return new OrderedProcessor(manager);
		}

	}

	record OrderedProcessor(PlatformTransactionManager manager) implements BeanPostProcessor, Ordered {

		@Override
		public int getOrder() {
			return 0;
		}

	}

	/** A manager of a type of its own. */
	@Configuration(proxyBeanMethods = false)
	static class OwnManager {

		@Bean(defaultCandidate = false)
		PlatformTransactionManager ownManager(ObjectProvider<PlatformTransactionManager> manager) {
			return new PlatformTransactionManager() {

				@Override
				public TransactionStatus getTransaction(TransactionDefinition definition) {
					return manager.getObject().getTransaction(definition);
				}

				@Override
				public void commit(TransactionStatus status) {
					manager.getObject().commit(status);
				}

				@Override
				public void rollback(TransactionStatus status) {
					manager.getObject().rollback(status);
				}

			};
		}

	}

}
