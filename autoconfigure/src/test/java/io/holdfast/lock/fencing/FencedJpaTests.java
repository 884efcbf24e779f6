package io.holdfast.lock.fencing;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;

import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import jakarta.persistence.PersistenceContext;
import jakarta.persistence.PostPersist;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.persistence.autoconfigure.EntityScan;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.StaleFencingTokenException;
import io.holdfast.lock.autoconfigure.DistributedLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.FencingAutoConfiguration;
import io.holdfast.lock.autoconfigure.LocalLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockInterceptorAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockTransactionAutoConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests that a JPA transaction passes the fence on its own connection.
 */
class FencedJpaTests {

	private static Runnable whenWritten = () -> {
	};

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
				LocalLockAutoConfiguration.class, LockInterceptorAutoConfiguration.class,
				LockTransactionAutoConfiguration.class, FencingAutoConfiguration.class,
				DataSourceAutoConfiguration.class, JdbcTemplateAutoConfiguration.class,
				HibernateJpaAutoConfiguration.class, TransactionAutoConfiguration.class, AopAutoConfiguration.class))
		.withUserConfiguration(Entities.class)
		.withBean(Shop.class)
		.withPropertyValues("distributed-lock.backend=local", "spring.datasource.generate-unique-name=true");

	@Test
	void transactionPassesTheFenceAndAnOvertakenHolderIsRefused() {
		this.runner.run((context) -> {
			assertThat(context).hasNotFailed()
				.getBean(PlatformTransactionManager.class)
				.isInstanceOf(JpaTransactionManager.class);
			Shop shop = context.getBean(Shop.class);
			JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
			shop.sell(1,
					() -> assertThat(jdbc.queryForList("SELECT token FROM holdfast_fence", Long.class)).hasSize(1));
			jdbc.update("UPDATE holdfast_fence SET token = ?, owner = 'successor'", Long.MAX_VALUE);
			assertThatExceptionOfType(StaleFencingTokenException.class).isThrownBy(() -> shop.sell(2, () -> {
			}));
			assertThat(jdbc.queryForList("SELECT id FROM sale", Long.class)).containsExactly(1L);
		});
	}

	/** The caller's transaction began before the lock, so it is not fenced. */
	@Test
	void transactionWithinTheCallersIsFenced() {
		this.runner.run((context) -> {
			Shop shop = context.getBean(Shop.class);
			JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
			TransactionTemplate outer = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
			outer.executeWithoutResult((status) -> {
				shop.sellInNew(1);
				assertThat(CompletableFuture
					.supplyAsync(() -> jdbc.queryForList("SELECT token FROM holdfast_fence", Long.class))
					.join()).as("committed").hasSize(1);
				status.setRollbackOnly();
			});
			jdbc.update("UPDATE holdfast_fence SET token = ?, owner = 'successor'", Long.MAX_VALUE);
			outer.executeWithoutResult((status) -> assertThatExceptionOfType(StaleFencingTokenException.class)
				.isThrownBy(() -> shop.sellInNew(2)));
			assertThat(jdbc.queryForList("SELECT id FROM sale", Long.class)).containsExactly(1L);
		});
	}

	@Test
	void rolledBackTransactionHasNotPassed() {
		this.runner.run((context) -> {
			assertThatExceptionOfType(IllegalStateException.class)
				.isThrownBy(() -> context.getBean(Shop.class).sell(1, () -> {
					throw new IllegalStateException("no");
				}));
			assertThat(context.getBean(JdbcTemplate.class).queryForList("SELECT token FROM holdfast_fence", Long.class))
				.isEmpty();
		});
	}

	/** An entity is written when its transaction commits, long after the body. */
	@Test
	void successorWaitsForWritesOfTheCommit() {
		this.runner.withPropertyValues("spring.datasource.url=jdbc:h2:mem:late;LOCK_TIMEOUT=10000").run((context) -> {
			Shop shop = context.getBean(Shop.class);
			JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
			shop.sell(1, () -> {
			});
			List<String> course = new ArrayList<>();
			AtomicReference<CompletableFuture<Integer>> successor = new AtomicReference<>();
			whenWritten = () -> {
				course.add("written");
				successor.set(CompletableFuture.supplyAsync(() -> salesThatASuccessorSees(jdbc)));
				assertThatExceptionOfType(TimeoutException.class)
					.isThrownBy(() -> successor.get().get(300, TimeUnit.MILLISECONDS));
			};
			try {
				shop.sell(2, () -> course.add("body"));
			}
			finally {
				whenWritten = () -> {
				};
			}
			assertThat(course).containsExactly("body", "written");
			assertThat(successor.get().get(10, TimeUnit.SECONDS)).isEqualTo(2);
		});
	}

	private static int salesThatASuccessorSees(JdbcTemplate jdbc) {
		jdbc.update("UPDATE holdfast_fence SET token = token + 1, owner = 'successor'");
		return jdbc.queryForList("SELECT id FROM sale").size();
	}

	/**
	 * Scans for the entities.
	 */
	@Configuration(proxyBeanMethods = false)
	@EntityScan(basePackageClasses = FencedJpaTests.class)
	static class Entities {

	}

	/**
	 * An entity that records a sale.
	 */
	@Entity(name = "sale")
	static class Sale {

		@Id
		private long id;

		protected Sale() {
		}

		Sale(long id) {
			this.id = id;
		}

		@PostPersist
		void written() {
			whenWritten.run();
		}

	}

	/**
	 * Sells under a lock.
	 */
	static class Shop {

		@PersistenceContext
		private EntityManager entities;

		@DistributedLock(name = "stock", fenced = true)
		@Transactional(propagation = Propagation.REQUIRES_NEW)
		void sellInNew(long id) {
			this.entities.persist(new Sale(id));
		}

		@DistributedLock(name = "stock", fenced = true)
		@Transactional
		void sell(long id, Runnable meanwhile) {
			this.entities.persist(new Sale(id));
			meanwhile.run();
		}

	}

}
