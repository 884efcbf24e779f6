package io.holdfast.lock.autoconfigure.slice;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;

import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.data.repository.CrudRepository;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockHandle;

@SpringBootApplication
class SliceApplication {

	@RestController
	static class StockController {

		@GetMapping("/held")
		@DistributedLock(name = "stock", backend = "redis")
		public String held() {
			return String.valueOf(LockHandle.current().map(LockHandle::isHeld).orElse(false));
		}

		@GetMapping("/unavailable")
		public String unavailable() {
			throw new LockBackendException("The store is away");
		}

	}

	@Entity
	static class Product {

		@Id
		Long id = 1L;

	}

	interface Products extends CrudRepository<Product, Long> {

	}

}
