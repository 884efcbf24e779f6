package io.holdfast.sample.sale;

import org.springframework.http.HttpStatus;
import org.springframework.web.server.ResponseStatusException;

/**
 * Thrown if a sale is to start while another one is in progress; results in status 409.
 */
class SaleInProgressException extends ResponseStatusException {

	SaleInProgressException() {
		super(HttpStatus.CONFLICT, "A sale is in progress. Start the next one when it is over, in a few seconds.");
	}

}
