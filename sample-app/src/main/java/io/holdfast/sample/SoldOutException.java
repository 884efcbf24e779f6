package io.holdfast.sample;

import org.springframework.http.HttpStatus;
import org.springframework.web.server.ResponseStatusException;

/**
 * Thrown if the stock is smaller than the ordered quantity; results in status 409.
 */
class SoldOutException extends ResponseStatusException {

	SoldOutException(long product, int quantity, int stock) {
		super(HttpStatus.CONFLICT,
				"Product %s has %s left, but %s were ordered. Nothing was sold.".formatted(product, stock, quantity));
	}

}
