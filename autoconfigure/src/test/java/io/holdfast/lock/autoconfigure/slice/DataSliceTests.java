package io.holdfast.lock.autoconfigure.slice;

import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.data.jpa.test.autoconfigure.DataJpaTest;
import org.springframework.boot.jdbc.test.autoconfigure.JdbcTest;
import org.springframework.context.annotation.Import;
import org.springframework.transaction.annotation.Transactional;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockHandle;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that slices with a database have locks and fences.
 */
class DataSliceTests {

	@Nested
	@DataJpaTest(properties = "distributed-lock.etcd.endpoints=http://127.0.0.1:1")
	@Import(Sales.class)
	class Jpa {

		@Autowired
		private Sales sales;

		@Test
		void beanHoldsItsLock() {
			assertThat(this.sales.sell()).isTrue();
		}

	}

	@Nested
	@JdbcTest(properties = "distributed-lock.backend=jdbc")
	@Import(Sales.class)
	class Jdbc {

		@Autowired
		private Sales sales;

		@Test
		void beanHoldsItsLock() {
			assertThat(this.sales.sell()).isTrue();
		}

	}

	static class Sales {

		@DistributedLock(name = "stock", fenced = true)
		@Transactional
		public boolean sell() {
			return LockHandle.current().map(LockHandle::isHeld).orElse(false);
		}

	}

}
