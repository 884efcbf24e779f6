package io.holdfast.lock.transaction;

import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import jakarta.persistence.Inheritance;
import jakarta.persistence.InheritanceType;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.test.server.PostgresServer;

import static io.holdfast.lock.transaction.WareApplication.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests that entities with one table per class are not written with old values.
 */
class UnionRowTests {

	@AutoClose
	private static final PostgresServer postgres = PostgresServer.started();

	@ParameterizedTest
	@EnumSource
	void entityWithoutSubclassesIsChecked(Database database) {
		run(database.setting(postgres), (application) -> {
			application.inTransaction((entities) -> entities.persist(new Express(2)));
			application.inOpenView(() -> {
				Express seen = application.entities().find(Express.class, 2L);
				application.locked(
						() -> application.inAnotherContext((entities) -> entities.find(Express.class, 2L).weight = 2));
				seen.receiver = "later";
				assertThatExceptionOfType(LockConfigurationException.class)
					.isThrownBy(() -> application.inTransaction(EntityManager::flush))
					.withMessageContaining(
							(database == Database.H2) ? "its row has changed since (weight)" : "TABLE_PER_CLASS");
			});
		});
	}

	@ParameterizedTest
	@EnumSource
	void entityWithSubclassesIsNotOverwritten(Database database) {
		run(database.setting(postgres), (application) -> {
			application.inTransaction((entities) -> entities.persist(new Parcel(1)));
			application.inOpenView(() -> {
				Parcel seen = application.entities().find(Parcel.class, 1L);
				application.locked(
						() -> application.inAnotherContext((entities) -> entities.find(Parcel.class, 1L).weight = 2));
				seen.receiver = "later";
				assertThatExceptionOfType(LockConfigurationException.class)
					.isThrownBy(() -> application.inTransaction(EntityManager::flush))
					.withMessageStartingWith(
							"Lock 'ware:1': " + Parcel.class.getName() + "#1 was read or written before")
					.withMessageContaining("EntityManager.refresh");
				Parcel read = application.entities().find(Parcel.class, 1L);
				application.locked(() -> {
				});
				application.inTransaction((entities) -> {
					entities.refresh(read);
					read.receiver = "last";
				});
				assertThat(application.<Integer>inAnotherContext((entities) -> entities.find(Parcel.class, 1L).weight))
					.isEqualTo(2);
			});
		});
	}

	/**
	 * An entity with a table of its own.
	 */
	@Entity(name = "parcel")
	@Inheritance(strategy = InheritanceType.TABLE_PER_CLASS)
	static class Parcel {

		@Id
		private long id;

		int weight = 1;

		String receiver;

		protected Parcel() {
		}

		Parcel(long id) {
			this.id = id;
		}

	}

	/**
	 * An entity whose table repeats the columns of its superclass.
	 */
	@Entity(name = "express")
	static class Express extends Parcel {

		protected Express() {
		}

		Express(long id) {
			super(id);
		}

	}

}
