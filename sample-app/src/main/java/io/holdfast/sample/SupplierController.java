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
 * Another service with a fence: every request carries the token of the caller's lock, and
 * one that is smaller than what was seen is refused.
 */
@RestController
@RequestMapping("/suppliers/{id}")
class SupplierController {

	private final Map<Long, Wish> wishes = new ConcurrentHashMap<>();

	// tag::http[]
	@PutMapping("/order")
	ResponseEntity<Wish> order(@PathVariable long id, @RequestParam int quantity,
			@RequestHeader("Fencing-Token") long token) {
		Wish wish = new Wish(quantity, token);
		// compared and kept in one atomic step
		Wish kept = this.wishes.merge(id, wish, (seen, next) -> (next.token() < seen.token()) ? seen : next);
		return (kept == wish) ? ResponseEntity.ok(kept) : ResponseEntity.status(HttpStatus.PRECONDITION_FAILED).build();
	}
	// end::http[]

	/**
	 * What is wanted of a supplier.
	 *
	 * @param quantity how many
	 * @param token the token of who said so
	 */
	record Wish(int quantity, long token) {
	}

}
