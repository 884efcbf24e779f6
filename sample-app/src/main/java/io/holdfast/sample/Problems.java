package io.holdfast.sample;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockException;
import io.holdfast.lock.LockLostException;
import io.holdfast.lock.LockNotAcquiredException;
import io.holdfast.lock.StaleFencingTokenException;

/**
 * Converts lock exceptions to RFC 9457 problem details. In each of these cases nothing
 * was sold, so the client may retry.
 */
@RestControllerAdvice
class Problems {

	private static final Logger logger = LoggerFactory.getLogger(Problems.class);

	// tag::busy[]
	@ExceptionHandler
	ResponseEntity<ProblemDetail> busy(LockNotAcquiredException ex) {
		return tryAgain("The product is busy", ex);
	}
	// end::busy[]

	@ExceptionHandler({ LockBackendException.class, LockLostException.class, StaleFencingTokenException.class })
	ResponseEntity<ProblemDetail> unavailable(LockException ex) {
		logger.warn("An order was not placed. {}", ex.getMessage());
		return tryAgain("The product cannot be locked", ex);
	}

	// tag::try-again[]
	private static ResponseEntity<ProblemDetail> tryAgain(String title, LockException ex) {
		ProblemDetail problem = ProblemDetail.forStatusAndDetail(HttpStatus.SERVICE_UNAVAILABLE, ex.getMessage());
		problem.setTitle(title);
		return ResponseEntity.of(problem).header(HttpHeaders.RETRY_AFTER, "1").build();
	}
	// end::try-again[]

}
