package io.holdfast.sample;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/**
 * Another service with a fence. Every request carries the token of the caller's lock, and
 * the service rejects a token smaller than the greatest one it has seen.
 */
@RestController
@RequestMapping("/suppliers/{id}")
class SupplierController {

	private final Map<Long, SupplierOrder> orders = new ConcurrentHashMap<>();

	// tag::http[]
	@PutMapping("/order")
	ResponseEntity<SupplierOrder> order(@PathVariable long id, @RequestParam int quantity,
			@RequestHeader("Fencing-Token") long token) {
		SupplierOrder order = new SupplierOrder(quantity, token);
		// compared and kept in one atomic step
		SupplierOrder kept = this.orders.merge(id, order, (seen, next) -> (next.token() < seen.token()) ? seen : next);
		return (kept == order) ? ResponseEntity.ok(kept)
				: ResponseEntity.status(HttpStatus.PRECONDITION_FAILED).build();
	}
	// end::http[]

	/**
	 * A quantity to order from a supplier.
	 *
	 * @param quantity the quantity
	 * @param token the token of the requesting holder
	 */
	record SupplierOrder(int quantity, long token) {
	}

}
