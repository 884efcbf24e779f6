package io.holdfast.lock.autoconfigure;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockException;
import io.holdfast.lock.LockLostException;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockNotAcquiredException;
import io.holdfast.lock.LockNotAcquiredException.Reason;
import io.holdfast.lock.StaleFencingTokenException;

/**
 * A controller for Spring MVC and Spring WebFlux whose calls fail because of a lock.
 */
@RestController
class LockFailures {

	static final LockName LOCK = LockName.of("stock", "42");

	/** The address of a server, which no client may see. */
	static final String SECRET = "10.1.2.3:6379";

	static LockNotAcquiredException held() {
		return notAcquired(Reason.HELD);
	}

	private static LockNotAcquiredException notAcquired(Reason reason) {
		return new LockNotAcquiredException(LOCK, "redis", Duration.ofMillis(1500), reason,
				"Lock 'stock:42' was not acquired at " + SECRET);
	}

	@GetMapping("/held")
	String isHeld() {
		throw held();
	}

	@GetMapping("/stopping")
	String isStopping() {
		throw notAcquired(Reason.STOPPING);
	}

	@GetMapping("/async")
	CompletionStage<String> failsLater() {
		return CompletableFuture.supplyAsync(this::isHeld);
	}

	@GetMapping("/unavailable")
	String isUnavailable() {
		throw new LockBackendException(LOCK, "redis", "Unable to connect to " + SECRET, null);
	}

	@GetMapping("/lost")
	String isLost() {
		throw new LockLostException(LOCK, "redis", "Lock 'stock:42' was lost at " + SECRET);
	}

	@GetMapping("/stale")
	String isStale() {
		throw new StaleFencingTokenException(LOCK, "redis", "A newer holder at " + SECRET);
	}

	@GetMapping("/misconfigured")
	String isMisconfigured() {
		throw new LockConfigurationException("There is no lock backend 'none'");
	}

	@GetMapping("/wrapped")
	String failsForItsOwnReason() {
		throw new OutOfStockException(held());
	}

	@GetMapping("/annotated")
	String failsWithItsOwnStatus() {
		throw new PaymentRequiredException();
	}

	/** An exception of the application that has the exception of a lock as its cause. */
	@ResponseStatus(HttpStatus.GONE)
	static final class OutOfStockException extends RuntimeException {

		private static final long serialVersionUID = 1L;

		OutOfStockException(LockException cause) {
			super(cause);
		}

	}

	/** An exception of a lock to which the application gives a status. */
	@ResponseStatus(HttpStatus.PAYMENT_REQUIRED)
	static final class PaymentRequiredException extends LockNotAcquiredException {

		private static final long serialVersionUID = 1L;

		PaymentRequiredException() {
			super(LOCK, "redis", Duration.ZERO, Reason.HELD, "own status");
		}

	}

}
