package io.holdfast.lock.fencing;

import java.util.UUID;

import javax.sql.DataSource;

import jakarta.persistence.EntityManagerFactory;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for a transaction inside a fenced one of JPA, whose connection is still on the
 * thread if the inner one is of another manager.
 */
class FenceInsideJpaTests {

	private static final ApplicationContextRunner runner = FencedApplication.runner()
		.withConfiguration(AutoConfigurations.of(HibernateJpaAutoConfiguration.class))
		.withUserConfiguration(TwoManagers.class)
		.withPropertyValues("distributed-lock.fencing.initialize-schema=always");

	private static TransactionTemplate transaction(ApplicationContext context, int propagation) {
		TransactionTemplate template = new TransactionTemplate(context.getBean(JpaTransactionManager.class));
		template.setPropagationBehavior(propagation);
		return template;
	}

	/** It would wait for the row that its own thread has locked. */
	@Test
	void otherTransactionDoesNotPassWithTheConnectionOfTheOuterOne() {
		runner.run((context) -> {
			JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
			Integer result = transaction(context, TransactionDefinition.PROPAGATION_REQUIRED).execute((outer) -> {
				context.getBean(Audit.class).write();
				return transaction(context, TransactionDefinition.PROPAGATION_REQUIRES_NEW)
					.execute((inner) -> jdbc.queryForObject("SELECT 7", Integer.class));
			});
			assertThat(result).isEqualTo(7);
			assertThat(jdbc.queryForList("SELECT token FROM holdfast_fence")).hasSize(1);
		});
	}

	@Test
	void innerTransactionDoesNotWaitForTheOuterOne() {
		runner.run((context) -> {
			JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
			Integer result = context.getBean(LockOperations.class)
				.execute(LockRequest.of("audit"),
						(handle) -> transaction(context, TransactionDefinition.PROPAGATION_REQUIRED)
							.execute((outer) -> transaction(context, TransactionDefinition.PROPAGATION_REQUIRES_NEW)
								.execute((inner) -> jdbc.queryForObject("SELECT 7", Integer.class))));
			assertThat(result).isEqualTo(7);
			assertThat(jdbc.queryForList("SELECT token FROM holdfast_fence")).hasSize(1);
		});
	}

	@Test
	void otherTransactionIsNotFencedByTheConnectionOfTheOuterOne() {
		runner.run((context) -> transaction(context, TransactionDefinition.PROPAGATION_REQUIRED)
			.executeWithoutResult((outer) -> assertThatExceptionOfType(LockConfigurationException.class)
				.isThrownBy(() -> transaction(context.getBean("otherManager", PlatformTransactionManager.class))
					.executeWithoutResult((inner) -> context.getBean(Audit.class).writeFenced()))
				.withMessageContaining("outside a transaction of the fenced data source")));
	}

	private static TransactionTemplate transaction(PlatformTransactionManager manager) {
		return new TransactionTemplate(manager);
	}

	static class Audit {

		@DistributedLock("audit")
		@Transactional("otherManager")
		public void write() {
		}

		@DistributedLock(name = "audit", fenced = true)
		public void writeFenced() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement(proxyTargetClass = true)
	static class TwoManagers {

		@Bean
		@Primary
		DataSource mainDataSource() {
			return database();
		}

		@Bean
		@Primary
		PlatformTransactionManager mainManager(EntityManagerFactory factory) {
			return new JpaTransactionManager(factory);
		}

		@Bean
		PlatformTransactionManager otherManager() {
			return new JdbcTransactionManager(database());
		}

		private static DataSource database() {
			return new DriverManagerDataSource("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
		}

		@Bean
		Audit audit() {
			return new Audit();
		}

	}

}
