package io.holdfast.lock.transaction;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;

import jakarta.persistence.CascadeType;
import jakarta.persistence.Column;
import jakarta.persistence.ElementCollection;
import jakarta.persistence.Embeddable;
import jakarta.persistence.Embedded;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.FetchType;
import jakarta.persistence.Id;
import jakarta.persistence.LockModeType;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.OneToMany;
import jakarta.persistence.Version;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.assertj.core.api.ThrowableAssertAlternative;
import org.awaitility.Awaitility;
import org.hibernate.SessionFactory;
import org.hibernate.StatelessSession;
import org.hibernate.annotations.DynamicUpdate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.persistence.autoconfigure.EntityScan;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.orm.ObjectOptimisticLockingFailureException;
import org.springframework.orm.jpa.support.OpenEntityManagerInViewInterceptor;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.web.context.request.ServletWebRequest;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockContext;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.autoconfigure.DistributedLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.LocalLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockInterceptorAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockTransactionAutoConfiguration;
import io.holdfast.lock.test.server.PostgresServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests that an entity read before a lock never overwrites a later commit with its old
 * values, neither under the lock nor after it.
 */
class SetAsideEntityTests {

	private static PostgresServer postgres;

	/** The database of the application under test. */
	enum Database {

		H2, POSTGRES

	}

	@BeforeAll
	static void startServer() {
		postgres = PostgresServer.started();
	}

	@AfterAll
	static void stopServer() {
		postgres.close();
	}

	/** The operations that pass an entity to a persistence context. */
	enum Operation {

		MERGE((entities, ware) -> entities.merge(ware), "merged"),

		/** Saves an entity as a Spring Data repository does. */
		SAVE((entities, ware) -> {
			if (!entities.contains(ware)) {
				entities.merge(ware);
			}
		}, "saved"),

		MERGE_BY_CASCADE((entities, ware) -> entities.merge(new Basket(7, ware)), "merged"),

		PERSIST((entities, ware) -> entities.persist(ware), "persisted"),

		PERSIST_BY_CASCADE((entities, ware) -> entities.persist(new Basket(7, ware)), "persisted"),

		PERSIST_BY_CASCADE_OF_THE_FLUSH((entities, ware) -> {
			Basket basket = new Basket(7, null);
			entities.persist(basket);
			basket.wares.add(ware);
			entities.flush();
		}, "persisted"),

		REFRESH((entities, ware) -> entities.refresh(ware), "refreshed"),

		LOCK((entities, ware) -> entities.lock(ware, LockModeType.PESSIMISTIC_WRITE), "locked in the database"),

		REMOVE((entities, ware) -> entities.remove(ware), "removed");

		private final BiConsumer<EntityManager, Ware> action;

		private final String refused;

		Operation(BiConsumer<EntityManager, Ware> action, String refused) {
			this.action = action;
			this.refused = refused;
		}

	}

	private static void run(Scenario scenario) {
		run(Database.H2, scenario);
	}

	private static void run(Database database, Scenario scenario) {
		new ApplicationContextRunner()
			.withConfiguration(
					AutoConfigurations.of(DistributedLockAutoConfiguration.class, LocalLockAutoConfiguration.class,
							LockInterceptorAutoConfiguration.class, LockTransactionAutoConfiguration.class,
							DataSourceAutoConfiguration.class, HibernateJpaAutoConfiguration.class,
							TransactionAutoConfiguration.class, AopAutoConfiguration.class))
			.withUserConfiguration(Entities.class)
			.withPropertyValues("distributed-lock.backend=local", "distributed-lock.wait-time=0s",
					"spring.jpa.hibernate.ddl-auto=create-drop",
					(database == Database.POSTGRES) ? "spring.datasource.url=" + postgres.jdbcUrl()
							: "spring.datasource.generate-unique-name=true")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				Application application = new Application(context.getBean(EntityManagerFactory.class),
						context.getBean(EntityManager.class), context.getBean(TransactionTemplate.class),
						context.getBean(LockOperations.class));
				application.inTransaction((entities) -> {
					Shelf shelf = new Shelf(1);
					entities.persist(shelf);
					entities.persist(new Ware(1, shelf));
				});
				scenario.run(application);
				assertThat(LockContext.handles()).isEmpty();
				assertThat(TransactionSynchronizationManager.getResourceMap()).as("bound to the thread").isEmpty();
				assertThat(SetAsideSessions.any()).as("set aside").isFalse();
			});
	}

	@ParameterizedTest
	@EnumSource
	void earlierEntityIsRefusedUnderTheLock(Operation operation) {
		run((application) -> application.inOpenView(() -> {
			Ware seen = application.find();
			application.sellElsewhere();
			application.locked(() -> assertThatExceptionOfType(LockConfigurationException.class)
				.isThrownBy(() -> application.inTransaction((entities) -> operation.action.accept(entities, seen)))
				.withMessageStartingWith("Lock 'ware:1': " + Ware.class.getName() + "#1 was read before the lock")
				.withMessageContaining(operation.refused)
				.withMessageContaining("Pass its id to the locked method, load it there"));
			assertThat(application.stored().stock).isEqualTo(99);
			assertThat(application.find()).as("of the request").isSameAs(seen);
		}));
	}

	@Test
	void messageNamesAllLocksOfTheRequest() {
		run((application) -> application.inOpenView(() -> {
			Ware seen = application.find();
			LockRequest both = LockRequest.of("till").withLocks(List.of(LockRequest.of("till").lock(), LOCK.lock()));
			application.locks.execute(both,
					(handle) -> assertThatExceptionOfType(LockConfigurationException.class)
						.isThrownBy(() -> application.inTransaction((entities) -> entities.merge(seen)))
						.withMessageStartingWith("Locks 'till', 'ware:1': "));
		}));
	}

	@Test
	void earlierProxyIsRefusedUnlessItIsUninitialized() {
		run((application) -> application.inOpenView(() -> {
			Shelf read = application.find().shelf;
			assertThat(read.name()).isEqualTo("shelf");
			application.locked(() -> assertThatExceptionOfType(LockConfigurationException.class)
				.isThrownBy(() -> application.inTransaction((entities) -> entities.merge(read)))
				.withMessageContaining(Shelf.class.getName() + "#1 was read before the lock"));
			application.entities.clear();
			Shelf reference = application.find().shelf;
			application.locked(() -> application.inTransaction((entities) -> entities.merge(reference)));
		}));
	}

	@Test
	void referenceToAnEarlierEntityIsWrittenUnderTheLock() {
		run((application) -> application.inOpenView(() -> {
			Shelf shelf = application.find().shelf;
			assertThat(shelf.name()).isEqualTo("shelf");
			application.locked(() -> application.inTransaction((entities) -> entities.persist(new Ware(2, shelf))));
			assertThat(application.entities.find(Ware.class, 2L).shelf).isSameAs(shelf);
		}));
	}

	@Test
	void instanceFromOutsideTheRequestContextIsMerged() {
		run((application) -> application.inOpenView(() -> {
			Shelf shelf = application.find().shelf;
			Ware sent = new Ware(1, shelf);
			sent.stock = 50;
			application.locked(() -> application.inTransaction((entities) -> entities.merge(sent)));
			assertThat(application.stored().stock).isEqualTo(50);
		}));
	}

	/**
	 * The hold ended on another thread, so the persistence context is never bound again.
	 */
	@Test
	void unrestoredContextIsRefusedAndDiscarded() {
		run((application) -> {
			application.inOpenView(() -> {
				Ware seen = application.find();
				LockHandle handle = application.locks.acquire(LOCK);
				CompletableFuture.runAsync(handle::close).join();
				assertThatExceptionOfType(LockConfigurationException.class)
					.isThrownBy(() -> application.inTransaction((entities) -> entities.merge(seen)));
			});
			application.inOpenView(() -> {
				application.find();
				application.locked(() -> application.inTransaction((entities) -> entities.merge(new Ware(1, null))));
			});
		});
	}

	@Test
	void entityIsMergedAgainWhenTheCallHasEnded() {
		run((application) -> application.inOpenView(() -> {
			Ware seen = application.find();
			application.locked(() -> {
			});
			seen.name = "later";
			application.inTransaction((entities) -> entities.merge(seen));
			assertThat(application.stored().name).isEqualTo("later");
		}));
	}

	@ParameterizedTest
	@EnumSource
	void earlierEntityDoesNotOverwriteTheWritesOfOthers(Database database) {
		run(database, (application) -> application.inOpenView(() -> {
			Ware seen = application.find();
			application.locked(application::sellElsewhere);
			seen.name = "later";
			assertOverwriteRefused(() -> application.inTransaction(EntityManager::flush), "stock");
			assertThat(application.stored().stock).isEqualTo(99);
			assertThat(application.find()).as("read again after the rollback").isNotSameAs(seen);
		}));
	}

	@ParameterizedTest
	@EnumSource
	void earlierEntityKeepsTheWritesOfTheCall(Database database) {
		run(database, (application) -> application.inOpenView(() -> {
			Ware seen = application.find();
			application.sell();
			application.locked(() -> application.inTransaction((entities) -> {
				application.find().price.amount = new BigDecimal("1.005");
				application.find().madeAt = Instant.parse("2025-01-01T00:00:00.123456789Z");
			}));
			for (int i = 1; i < 3; i++) {
				seen.name = "later" + i;
				application.inTransaction(EntityManager::flush);
				Ware stored = application.stored();
				assertThat(seen.stock).isEqualTo(stored.stock).isEqualTo(100 - i);
				assertThat(seen.price.amount).isEqualTo(stored.price.amount).isNotEqualTo(new BigDecimal("1.00"));
				assertThat(seen.madeAt).isEqualTo(stored.madeAt).isNotNull();
				assertThat(stored.name).isEqualTo("later" + i);
				application.sell();
			}
		}));
	}

	@Test
	void rolledBackWriteIsNotTheCallsOwn() {
		run((application) -> application.inOpenView(() -> {
			Ware seen = application.find();
			application.locked(() -> application.transactions.executeWithoutResult((status) -> {
				application.find().stock--;
				application.entities.flush();
				status.setRollbackOnly();
			}));
			application.sellElsewhere();
			seen.name = "later";
			assertOverwriteRefused(() -> application.inTransaction(EntityManager::flush), "stock");
		}));
	}

	@Test
	void referenceThatTheCallHasChangedIsRefused() {
		run((application) -> application.inOpenView(() -> {
			Ware seen = application.find();
			application.locked(() -> application.inTransaction((entities) -> application.find().shelf = null));
			seen.name = "later";
			assertOverwriteRefused(() -> application.inTransaction(EntityManager::flush), "shelf");
		}));
	}

	@ParameterizedTest
	@EnumSource
	void refreshedEarlierEntityIsWritten(Database database) {
		run(database, (application) -> application.inOpenView(() -> {
			Ware seen = application.find();
			application.sell();
			application.inTransaction((entities) -> {
				entities.refresh(seen);
				seen.name = "refreshed";
			});
			seen.name = "refreshed before";
			application.inTransaction(EntityManager::flush);
			assertThat(application.stored().stock).isEqualTo(99);
			assertThat(application.stored().name).isEqualTo("refreshed before");
		}));
	}

	@Test
	void mergeOfAResultOfTheCallIsWritten() {
		run((application) -> application.inOpenView(() -> {
			Ware seen = application.find();
			application.sell();
			Ware sold = application.stored();
			sold.name = "sold";
			application.inTransaction((entities) -> entities.merge(sold));
			assertThat(seen.stock).isEqualTo(99);
			assertThat(application.stored().stock).isEqualTo(99);
			assertThat(application.stored().name).isEqualTo("sold");
		}));
	}

	@Test
	void changeThatWasComputedFromTheOldValueIsRefused() {
		run((application) -> application.inOpenView(() -> {
			Ware seen = application.find();
			application.sell();
			seen.stock--;
			assertOverwriteRefused(() -> application.inTransaction(EntityManager::flush), "stock");
		}));
	}

	/** Another transaction has changed the row, and commits while the flush waits. */
	@Test
	void changeThatIsCommittedDuringTheFlushIsSeen() {
		run(Database.POSTGRES, (application) -> application.inOpenView(() -> {
			Ware seen = application.find();
			application.locked(() -> {
			});
			CompletableFuture<Boolean> sold = new CompletableFuture<>();
			CompletableFuture<Void> other = CompletableFuture.runAsync(() -> application.inTransaction((entities) -> {
				application.find().stock--;
				entities.flush();
				sold.complete(true);
				Awaitility.await()
					.until(() -> !entities
						.createNativeQuery("SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
								+ " AND datname = current_database()")
						.getResultList()
						.isEmpty());
			}));
			sold.orTimeout(20, TimeUnit.SECONDS).join();
			seen.name = "later";
			assertOverwriteRefused(() -> application.inTransaction(EntityManager::flush), "stock");
			other.join();
			assertThat(application.stored().stock).isEqualTo(99);
		}));
	}

	@Test
	void commitThatWouldOverwriteFailsForThatCause() {
		run((application) -> application.inOpenView(() -> {
			application.find().name = "before";
			application.locked(application::sellElsewhere);
			assertThatExceptionOfType(TransactionSystemException.class)
				.isThrownBy(() -> application.inTransaction((entities) -> entities.persist(new Shelf(2))))
				.withRootCauseInstanceOf(LockConfigurationException.class);
			assertThat(application.stored().stock).isEqualTo(99);
			assertThat(application.<Shelf>inAnotherContext((entities) -> entities.find(Shelf.class, 2L))).isNull();
		}));
	}

	@Test
	void attributesOfAllKindsAreCompared() {
		run((application) -> application.inOpenView(() -> {
			Ware seen = application.find();
			application.inAnotherContext((entities) -> {
				Ware other = entities.find(Ware.class, 1L);
				Shelf shelf = new Shelf(2);
				entities.persist(shelf);
				other.shelf = shelf;
				other.price.amount = new BigDecimal("2.50");
				return other.tags.add("sold");
			});
			application.locked(() -> {
			});
			seen.name = "later";
			assertOverwriteRefused(() -> application.inTransaction(EntityManager::flush), "price, shelf");
		}));
	}

	@ParameterizedTest
	@EnumSource
	void entityWhoseRowIsUnchangedIsWritten(Database database) {
		run(database, (application) -> application.inOpenView(() -> {
			Ware seen = application.find();
			application.locked(() -> {
			});
			for (int i = 0; i < 2; i++) {
				seen.name = "later" + i;
				seen.madeAt = Instant.now();
				application.inTransaction((entities) -> {
				});
				assertThat(application.stored().name).isEqualTo("later" + i);
				application.locked(() -> {
				});
			}
		}));
	}

	/**
	 * A value that the database rounded does not count as a change by another
	 * transaction.
	 */
	@ParameterizedTest
	@EnumSource
	void entityThatTheRequestHasWrittenItselfIsWrittenAgain(Database database) {
		run(database, (application) -> application.inOpenView(() -> {
			Ware made = new Ware(2, null);
			made.price.amount = new BigDecimal("1.005");
			made.madeAt = Instant.parse("2025-01-01T00:00:00.123456789Z");
			application.inTransaction((entities) -> entities.persist(made));
			application.locked(() -> {
			});
			made.name = "later";
			application.inTransaction(EntityManager::flush);
			application.locked(() -> {
			});
			made.name = "last";
			application.inTransaction(EntityManager::flush);
			assertThat(application.inAnotherContext((entities) -> entities.find(Ware.class, 2L)).name)
				.isEqualTo("last");
			application.locked(() -> {
			});
			application.inAnotherContext((entities) -> entities.find(Ware.class, 2L).stock--);
			application.inAnotherContext((entities) -> entities.find(Ware.class, 2L).price.amount = BigDecimal.TEN);
			made.name = "lost";
			assertThatExceptionOfType(LockConfigurationException.class)
				.isThrownBy(() -> application.inTransaction(EntityManager::flush))
				.withMessageContaining("#2 was read or written before the lock")
				.withMessageContaining("changed since (price, stock)");
		}));
	}

	@Test
	void entityWithAVersionIsLeftToHibernate() {
		run((application) -> {
			application.inTransaction((entities) -> entities.persist(new Versioned(1)));
			application.inOpenView(() -> {
				Versioned seen = application.entities.find(Versioned.class, 1L);
				application
					.locked(() -> application.inTransaction((entities) -> entities.find(Versioned.class, 1L).stock--));
				seen.stock = 5;
				assertThatExceptionOfType(ObjectOptimisticLockingFailureException.class)
					.isThrownBy(() -> application.inTransaction((entities) -> {
					}));
			});
		});
	}

	@Test
	void onlyAttributesOfADynamicUpdateAreCompared() {
		run((application) -> {
			application.inTransaction((entities) -> entities.persist(new Dynamic(1)));
			application.inOpenView(() -> {
				Dynamic seen = application.entities.find(Dynamic.class, 1L);
				application
					.locked(() -> application.inTransaction((entities) -> entities.find(Dynamic.class, 1L).stock--));
				seen.name = "later";
				application.inTransaction(EntityManager::flush);
				application
					.locked(() -> application.inTransaction((entities) -> entities.find(Dynamic.class, 1L).stock--));
				assertThat(application.inAnotherContext((entities) -> entities.find(Dynamic.class, 1L)).stock)
					.isEqualTo(98);
				application.entities.clear();
				Dynamic again = application.entities.find(Dynamic.class, 1L);
				application
					.locked(() -> application.inTransaction((entities) -> entities.find(Dynamic.class, 1L).stock--));
				again.stock--;
				assertOverwriteRefused(() -> application.inTransaction(EntityManager::flush), "stock");
			});
		});
	}

	@Test
	void statelessSessionIsNotChecked() {
		run((application) -> application.inOpenView(() -> {
			application.find();
			application.locked(() -> {
				try (StatelessSession session = application.factory.unwrap(SessionFactory.class)
					.openStatelessSession()) {
					session.beginTransaction();
					session.insert(new Shelf(2));
					Ware ware = session.get(Ware.class, 1L);
					ware.stock--;
					session.update(ware);
					session.delete(session.get(Shelf.class, 2L));
					session.getTransaction().commit();
				}
			});
			assertThat(application.stored().stock).isEqualTo(99);
		}));
	}

	@Test
	void deletedRowIsLeftToHibernate() {
		run((application) -> application.inOpenView(() -> {
			Ware seen = application.find();
			application.locked(() -> application.inTransaction((entities) -> entities.remove(application.find())));
			seen.name = "later";
			assertThatExceptionOfType(ObjectOptimisticLockingFailureException.class)
				.isThrownBy(() -> application.inTransaction((entities) -> {
				}));
		}));
	}

	private static void assertOverwriteRefused(ThrowingCallable call, String changed) {
		ThrowableAssertAlternative<LockConfigurationException> refused = assertThatExceptionOfType(
				LockConfigurationException.class)
			.isThrownBy(call);
		refused.withMessageStartingWith("Lock 'ware:1': ")
			.withMessageContaining(
					"#1 was read or written before the lock, and its row has changed since (" + changed + ")")
			.withMessageContaining("EntityManager.refresh");
	}

	private static final LockRequest LOCK = LockRequest.of("ware", 1);

	/**
	 * The steps of a test.
	 */
	@FunctionalInterface
	interface Scenario {

		void run(Application application);

	}

	/**
	 * The parts of the application that a test uses.
	 */
	record Application(EntityManagerFactory factory, EntityManager entities, TransactionTemplate transactions,
			LockOperations locks) {

		void inOpenView(Runnable request) {
			OpenEntityManagerInViewInterceptor view = new OpenEntityManagerInViewInterceptor();
			view.setEntityManagerFactory(this.factory);
			ServletWebRequest web = new ServletWebRequest(new MockHttpServletRequest());
			view.preHandle(web);
			try {
				request.run();
			}
			finally {
				view.afterCompletion(web, null);
			}
		}

		void inTransaction(Consumer<EntityManager> work) {
			this.transactions.executeWithoutResult((status) -> work.accept(this.entities));
		}

		void locked(Runnable work) {
			this.locks.execute(LOCK, (handle) -> {
				work.run();
				return null;
			});
		}

		void sell() {
			locked(() -> inTransaction((entities) -> find().stock--));
		}

		Ware find() {
			return this.entities.find(Ware.class, 1L);
		}

		Ware stored() {
			return inAnotherContext((entities) -> find());
		}

		void sellElsewhere() {
			inAnotherContext((entities) -> find().stock--);
		}

		<T> T inAnotherContext(Function<EntityManager, T> work) {
			return CompletableFuture.supplyAsync(() -> this.transactions.execute((status) -> work.apply(this.entities)))
				.join();
		}

	}

	/**
	 * Scans for the entities.
	 */
	@Configuration(proxyBeanMethods = false)
	@EntityScan(basePackageClasses = SetAsideEntityTests.class)
	static class Entities {

	}

	/**
	 * An entity with a stock.
	 */
	@Entity(name = "ware")
	static class Ware {

		@Id
		private long id;

		private int stock = 100;

		private String name;

		@ElementCollection
		private List<String> tags = new ArrayList<>();

		@Embedded
		private Price price = new Price();

		private Instant madeAt;

		@ManyToOne(fetch = FetchType.LAZY)
		private Shelf shelf;

		protected Ware() {
		}

		Ware(long id, Shelf shelf) {
			this.id = id;
			this.shelf = shelf;
		}

	}

	/**
	 * The price of a ware.
	 */
	@Embeddable
	static class Price {

		@Column(precision = 10, scale = 2)
		private BigDecimal amount = BigDecimal.ONE;

		private String currency;

	}

	/**
	 * The shelf of a ware.
	 */
	@Entity(name = "shelf")
	static class Shelf {

		@Id
		private long id;

		private String name = "shelf";

		protected Shelf() {
		}

		Shelf(long id) {
			this.id = id;
		}

		String name() {
			return this.name;
		}

	}

	/**
	 * An entity that cascades to its wares.
	 */
	@Entity(name = "basket")
	static class Basket {

		@Id
		private long id;

		@OneToMany(cascade = CascadeType.ALL)
		private List<Ware> wares = new ArrayList<>();

		protected Basket() {
		}

		Basket(long id, Ware ware) {
			this.id = id;
			if (ware != null) {
				this.wares.add(ware);
			}
		}

	}

	/**
	 * An entity with a version.
	 */
	@Entity(name = "versioned")
	static class Versioned {

		@Id
		private long id;

		private int stock = 100;

		@Version
		private int version;

		protected Versioned() {
		}

		Versioned(long id) {
			this.id = id;
		}

	}

	/**
	 * An entity of which only changed columns are written.
	 */
	@Entity(name = "dynamic_ware")
	@DynamicUpdate
	static class Dynamic {

		@Id
		private long id;

		private int stock = 100;

		private String name;

		protected Dynamic() {
		}

		Dynamic(long id) {
			this.id = id;
		}

	}

}
