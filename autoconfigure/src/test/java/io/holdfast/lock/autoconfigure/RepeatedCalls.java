package io.holdfast.lock.autoconfigure;

import java.time.Duration;

import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

import io.holdfast.lock.LockNotAcquiredException;

/**
 * A controller for Spring WebFlux that repeats calls whose lock is held.
 */
@RestController
class RepeatedCalls {

	private static Mono<Integer> sell(long productId, int quantity) {
		return Mono.error(LockFailures::held);
	}

	@GetMapping("/exhausted")
	Mono<Integer> failsWithTheExceptionOfReactor() {
		return sell(42, 1).retryWhen(Retry.max(1));
	}

	// tag::retry[]
	@PostMapping("/products/{id}/orders")
	Mono<Integer> order(@PathVariable long id, @RequestParam int quantity) {
		return sell(id, quantity).retryWhen(Retry.backoff(3, Duration.ofMillis(50))
			.filter(LockNotAcquiredException.class::isInstance)
			.onRetryExhaustedThrow((retry, last) -> last.failure()));
	}
	// end::retry[]

}
