package io.holdfast.lock.transaction;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import jakarta.persistence.Version;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.assertj.core.api.ThrowableAssertAlternative;
import org.awaitility.Awaitility;
import org.hibernate.annotations.DynamicUpdate;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.orm.ObjectOptimisticLockingFailureException;
import org.springframework.transaction.TransactionSystemException;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.test.server.PostgresServer;

import static io.holdfast.lock.transaction.WareApplication.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests that a persistence context from before a lock never overwrites a later commit
 * with its old values when it is used again.
 */
class OverwriteListenerTests {

	@AutoClose
	private static final PostgresServer postgres = PostgresServer.started();

	@ParameterizedTest
	@EnumSource
	void earlierEntityDoesNotOverwriteTheWritesOfOthers(Database database) {
		run(database.setting(postgres), (application) -> application.inOpenView(() -> {
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
		run(database.setting(postgres), (application) -> application.inOpenView(() -> {
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
			application.locked(() -> application.transactions().executeWithoutResult((status) -> {
				application.find().stock--;
				application.entities().flush();
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
		run(database.setting(postgres), (application) -> application.inOpenView(() -> {
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
		run(Database.POSTGRES.setting(postgres), (application) -> application.inOpenView(() -> {
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
		run(database.setting(postgres), (application) -> application.inOpenView(() -> {
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
		run(database.setting(postgres), (application) -> application.inOpenView(() -> {
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
				.withMessageContaining("#2 was read or written before the lock was released")
				.withMessageContaining("changed since (price, stock)");
		}));
	}

	@Test
	void entityWithAVersionIsLeftToHibernate() {
		run((application) -> {
			application.inTransaction((entities) -> entities.persist(new Versioned(1)));
			application.inOpenView(() -> {
				Versioned seen = application.entities().find(Versioned.class, 1L);
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
				Dynamic seen = application.entities().find(Dynamic.class, 1L);
				application
					.locked(() -> application.inTransaction((entities) -> entities.find(Dynamic.class, 1L).stock--));
				seen.name = "later";
				application.inTransaction(EntityManager::flush);
				application
					.locked(() -> application.inTransaction((entities) -> entities.find(Dynamic.class, 1L).stock--));
				assertThat(application.inAnotherContext((entities) -> entities.find(Dynamic.class, 1L)).stock)
					.isEqualTo(98);
				application.entities().clear();
				Dynamic again = application.entities().find(Dynamic.class, 1L);
				application
					.locked(() -> application.inTransaction((entities) -> entities.find(Dynamic.class, 1L).stock--));
				again.stock--;
				assertOverwriteRefused(() -> application.inTransaction(EntityManager::flush), "stock");
			});
		});
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
					"#1 was read or written before the lock was released, and its row has changed since (" + changed
							+ ")")
			.withMessageContaining("EntityManager.refresh");
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
