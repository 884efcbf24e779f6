package io.holdfast.lock.autoconfigure.slice;

import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import jakarta.persistence.PersistenceContext;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.data.jpa.test.autoconfigure.DataJpaTest;
import org.springframework.context.annotation.Import;
import org.springframework.transaction.annotation.Transactional;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockConfigurationException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for locked methods that are called within the transaction of a test.
 */
@DataJpaTest
@Import(JpaFixtureTests.Sales.class)
class JpaFixtureTests {

	@Autowired
	private EntityManager entities;

	@Autowired
	private Sales sales;

	// tag::fixture[]
	@Test
	void oneIsSold() {
		this.entities.persist(new Item(42, 10));
		this.entities.flush();
		this.entities.clear();

		this.sales.sell(42);

		assertThat(this.entities.find(Item.class, 42L).getStock()).isEqualTo(9);
	}
	// end::fixture[]

	@Test
	void fixtureThatIsStillInMemoryIsRefused() {
		this.entities.persist(new Item(42, 10));
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> this.sales.sell(42))
			.withMessageContaining("1 entity of [" + Item.class.getName() + "]")
			.withMessageContaining("read or written before the lock")
			.withMessageContaining("flush and clear");
	}

	/**
	 * Sells under a lock.
	 */
	static class Sales {

		@PersistenceContext
		private EntityManager entities;

		@DistributedLock(name = "stock", key = "#id")
		@Transactional
		public void sell(long id) {
			this.entities.find(Item.class, id).stock--;
		}

	}

	/**
	 * An entity with a stock.
	 */
	@Entity(name = "item")
	static class Item {

		@Id
		private long id;

		private int stock;

		protected Item() {
		}

		Item(long id, int stock) {
			this.id = id;
			this.stock = stock;
		}

		int getStock() {
			return this.stock;
		}

	}

}
