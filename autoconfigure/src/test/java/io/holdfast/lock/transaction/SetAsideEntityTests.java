package io.holdfast.lock.transaction;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;

import jakarta.persistence.CascadeType;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import jakarta.persistence.LockModeType;
import jakarta.persistence.OneToMany;
import org.hibernate.SessionFactory;
import org.hibernate.StatelessSession;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockRequest;

import static io.holdfast.lock.transaction.WareApplication.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests that an entity read before a lock is not passed to a persistence context under
 * the lock.
 */
class SetAsideEntityTests {

	/** As a listener does that saves the entity of its event. */
	@Test
	void entityOfAFinishedTransactionIsMergedIfItHasAVersion() {
		run((application) -> {
			application.inTransaction((entities) -> entities.persist(new OverwriteListenerTests.Versioned(1)));
			List<String> refused = new ArrayList<>();
			application.inTransaction((entities) -> {
				Object versioned = entities.find(OverwriteListenerTests.Versioned.class, 1L);
				Ware ware = application.find();
				TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

					@Override
					public void afterCompletion(int status) {
						for (Object entity : List.of(versioned, ware)) {
							try {
								application.locked(() -> application.inTransaction((inner) -> inner.merge(entity)));
							}
							catch (LockConfigurationException ex) {
								refused.add(ex.getMessage());
							}
						}
					}

				});
			});
			assertThat(refused).singleElement().asString().contains("Ware#1 was read before the lock");
		});
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
			LockRequest both = LockRequest.of("till")
				.withLocks(List.of(LockRequest.of("till").lock(), WareApplication.LOCK.lock()));
			application.locks()
				.execute(both,
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
			application.entities().clear();
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
			assertThat(application.entities().find(Ware.class, 2L).shelf).isSameAs(shelf);
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
				LockHandle handle = application.locks().acquire(WareApplication.LOCK);
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

	@Test
	void statelessSessionIsNotChecked() {
		run((application) -> application.inOpenView(() -> {
			application.find();
			application.locked(() -> {
				try (StatelessSession session = application.factory()
					.unwrap(SessionFactory.class)
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

}
