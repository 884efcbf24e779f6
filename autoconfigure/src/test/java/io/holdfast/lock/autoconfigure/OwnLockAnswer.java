package io.holdfast.lock.autoconfigure;

import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

import io.holdfast.lock.LockNotAcquiredException;

/**
 * An application's own answer to contention.
 */
@RestControllerAdvice
class OwnLockAnswer {

	@ExceptionHandler
	ResponseEntity<String> busy(LockNotAcquiredException ex) {
		return ResponseEntity.status(HttpStatus.LOCKED).body("busy");
	}

}
