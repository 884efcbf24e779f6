package io.holdfast.sample;

import java.sql.SQLException;
import java.time.Duration;

import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/**
 * REST endpoints for the stock and the orders of a product.
 */
@RestController
@RequestMapping("/products/{id}")
class ProductController {

	private static final int MOST = 1_000_000_000;

	private static final int LONGEST_THINK_MILLIS = 600_000;

	private final Warehouse warehouse;

	private final Stocktaking stocktaking;

	private final Orders orders;

	private final LockInsideTransaction lockInside;

	ProductController(Warehouse warehouse, Stocktaking stocktaking, Orders orders, LockInsideTransaction lockInside) {
		this.warehouse = warehouse;
		this.stocktaking = stocktaking;
		this.orders = orders;
		this.lockInside = lockInside;
	}

	@GetMapping
	Product product(@PathVariable long id) {
		return this.warehouse.product(id);
	}

	@PutMapping("/stock")
	Product setStock(@PathVariable long id, @RequestParam int quantity) {
		BadNumberException.unlessBetween("id", id, 1, Long.MAX_VALUE);
		BadNumberException.unlessBetween("quantity", quantity, 0, MOST);
		return this.stocktaking.set(id, quantity);
	}

	@PostMapping("/orders")
	@ResponseStatus(HttpStatus.CREATED)
	Order order(@PathVariable long id, @RequestParam int quantity, @RequestParam(defaultValue = "0") int thinkMillis,
			@RequestParam(defaultValue = "distributed") Locking lock) throws SQLException {
		BadNumberException.unlessBetween("quantity", quantity, 1, MOST);
		BadNumberException.unlessBetween("thinkMillis", thinkMillis, 0, LONGEST_THINK_MILLIS);
		Duration think = Duration.ofMillis(thinkMillis);
		return switch (lock) {
			case DISTRIBUTED -> this.orders.place(id, quantity, think);
			case NONE -> this.orders.placeUnlocked(id, quantity, think);
			case INSIDE -> this.lockInside.place(id, quantity, think);
		};
	}

}
