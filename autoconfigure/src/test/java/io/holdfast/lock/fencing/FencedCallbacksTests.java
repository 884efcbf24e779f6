package io.holdfast.lock.fencing;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

import javax.sql.DataSource;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.event.TransactionalEventListener;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.StaleFencingTokenException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for transactions that begin when another one of their thread has passed the
 * fence: after its commit, or inside that of another manager.
 */
class FencedCallbacksTests {

	/** Another holder passes between the commit and the callback. */
	@ParameterizedTest
	@ValueSource(strings = { "listener", "listenerWithAnOrder", "callback" })
	void transactionThatBeginsAfterTheCommitPassesAgain(String how) {
		FencedApplication.runner().withUserConfiguration(Callbacks.class).run((context) -> {
			try {
				context.getBean(Stock.class).sell(how);
			}
			catch (StaleFencingTokenException ex) {
				// a callback may report it, but a listener's failure is only logged
			}
			assertThat(context.getBean(JdbcTemplate.class).queryForList("SELECT how FROM report")).isEmpty();
		});
	}

	/**
	 * The transaction passes the fence only before its commit, after the registration.
	 */
	@Test
	void callbackThatRunsBeforeAllOthersPassesAgain() {
		FencedApplication.runner().withUserConfiguration(Callbacks.class).run((context) -> {
			JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
			assertThatExceptionOfType(StaleFencingTokenException.class)
				.isThrownBy(() -> context.getBean(TransactionTemplate.class).executeWithoutResult((status) -> {
					TransactionSynchronizationManager.registerSynchronization(new First(() -> {
						overtake(jdbc);
						context.getBean(Report.class).write("first callback");
					}));
					context.getBean(LockOperations.class).acquire(LockRequest.of("stock")).close();
				}));
			assertThat(jdbc.queryForList("SELECT how FROM report")).isEmpty();
		});
	}

	/** It would wait for the row that its own thread has locked. */
	@Test
	void transactionOfAnotherManagerPassesWithItsOwnConnection() {
		FencedApplication.runner()
			.withUserConfiguration(TwoManagers.class)
			.withPropertyValues("distributed-lock.fencing.initialize-schema=always")
			.run((context) -> assertThat(CompletableFuture.supplyAsync(() -> context.getBean(Orders.class).place(() -> {
			}))).succeedsWithin(Duration.ofMinutes(1)).isEqualTo(7));
	}

	@Test
	void overtakenHolderIsStillRefusedInTheOuterTransaction() {
		FencedApplication.runner()
			.withUserConfiguration(TwoManagers.class)
			.withPropertyValues("distributed-lock.fencing.initialize-schema=always")
			.run((context) -> {
				JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
				assertThatExceptionOfType(StaleFencingTokenException.class)
					.isThrownBy(() -> context.getBean(Orders.class).place(() -> overtake(jdbc)));
			});
	}

	private static void overtake(JdbcTemplate jdbc) {
		CompletableFuture.runAsync(() -> {
			if (jdbc.update("UPDATE holdfast_fence SET token = ?, owner = 'successor'", Long.MAX_VALUE) == 0) {
				throw new IllegalStateException("no row of the lock");
			}
		}).join();
	}

	record First(Runnable action) implements TransactionSynchronization {

		@Override
		public int getOrder() {
			return Ordered.HIGHEST_PRECEDENCE;
		}

		@Override
		public void afterCommit() {
			this.action.run();
		}

	}

	record Sold() {

	}

	record SoldFirst() {

	}

	static class Stock {

		private final JdbcTemplate jdbc;

		private final ApplicationEventPublisher events;

		private final Report report;

		Stock(JdbcTemplate jdbc, ApplicationEventPublisher events, Report report) {
			this.jdbc = jdbc;
			this.events = events;
			this.report = report;
		}

		@DistributedLock("stock")
		@Transactional
		public void sell(String how) {
			switch (how) {
				case "listener" -> this.events.publishEvent(new Sold());
				case "listenerWithAnOrder" -> this.events.publishEvent(new SoldFirst());
				default -> TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

					@Override
					public void afterCommit() {
						overtake(Stock.this.jdbc);
						Stock.this.report.write(how);
					}

				});
			}
		}

	}

	static class Report {

		private final JdbcTemplate jdbc;

		Report(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@Transactional(propagation = Propagation.REQUIRES_NEW)
		public void write(String how) {
			this.jdbc.update("INSERT INTO report VALUES (?)", how);
		}

	}

	static class Listener {

		private final JdbcTemplate jdbc;

		private final Report report;

		Listener(JdbcTemplate jdbc, Report report) {
			this.jdbc = jdbc;
			this.report = report;
		}

		@TransactionalEventListener
		public void sold(Sold event) {
			overtake(this.jdbc);
			this.report.write("listener");
		}

		@Order(1)
		@TransactionalEventListener
		public void soldFirst(SoldFirst event) {
			overtake(this.jdbc);
			this.report.write("listener with an order");
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement
	static class Callbacks {

		@Bean
		Report report(JdbcTemplate jdbc) {
			jdbc.execute("CREATE TABLE report (how VARCHAR(30))");
			return new Report(jdbc);
		}

		@Bean
		Stock stock(JdbcTemplate jdbc, ApplicationEventPublisher events, Report report) {
			return new Stock(jdbc, events, report);
		}

		@Bean
		Listener listener(JdbcTemplate jdbc, Report report) {
			return new Listener(jdbc, report);
		}

	}

	static class Audit {

		@DistributedLock("audit")
		@Transactional("otherManager")
		public void write() {
		}

	}

	static class Numbers {

		private final JdbcTemplate jdbc;

		Numbers(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@Transactional(transactionManager = "mainManager", propagation = Propagation.REQUIRES_NEW)
		public Integer next() {
			return this.jdbc.queryForObject("SELECT 7", Integer.class);
		}

	}

	static class Orders {

		private final Audit audit;

		private final Numbers numbers;

		Orders(Audit audit, Numbers numbers) {
			this.audit = audit;
			this.numbers = numbers;
		}

		@Transactional("mainManager")
		public Integer place(Runnable atTheEnd) {
			this.audit.write();
			Integer next = this.numbers.next();
			atTheEnd.run();
			return next;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement(proxyTargetClass = true)
	static class TwoManagers {

		@Bean
		@Primary
		DataSource mainDataSource() {
			return new DriverManagerDataSource("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
		}

		@Bean
		DataSource otherDataSource() {
			return new DriverManagerDataSource("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
		}

		@Bean
		@Primary
		PlatformTransactionManager mainManager(DataSource mainDataSource) {
			return new JdbcTransactionManager(mainDataSource);
		}

		@Bean
		PlatformTransactionManager otherManager(@Qualifier("otherDataSource") DataSource otherDataSource) {
			return new JdbcTransactionManager(otherDataSource);
		}

		@Bean
		Audit audit() {
			return new Audit();
		}

		@Bean
		Numbers numbers(JdbcTemplate jdbc) {
			return new Numbers(jdbc);
		}

		@Bean
		Orders orders(Audit audit, Numbers numbers) {
			return new Orders(audit, numbers);
		}

	}

}
