package io.holdfast.sample;

import org.springframework.http.HttpStatus;
import org.springframework.web.server.ResponseStatusException;

/**
 * Thrown if there is no product with the given id; results in status 404.
 */
class UnknownProductException extends ResponseStatusException {

	UnknownProductException(long product) {
		super(HttpStatus.NOT_FOUND,
				"There is no product %s. Create it: PUT /products/%s/stock?quantity=100".formatted(product, product));
	}

}
