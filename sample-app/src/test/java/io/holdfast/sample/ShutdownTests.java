package io.holdfast.sample;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.http.HttpStatus;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;

import static org.assertj.core.api.Assertions.assertThat;

class ShutdownTests {

	@Test
	void orderInProgressAtShutdownIsPlaced() throws Exception {
		RunningSample sample = RunningSample.start();
		CompletableFuture<HttpStatus> answer;
		try (sample) {
			answer = CompletableFuture.supplyAsync(() -> status(sample, "quantity=1&thinkMillis=1500"));
			Awaitility.await().until(() -> isLocked(sample));
		}
		assertThat(answer.get(10, TimeUnit.SECONDS)).isEqualTo(HttpStatus.CREATED);
	}

	private static HttpStatus status(RunningSample sample, String query) {
		return HttpStatus.valueOf(sample.order(42, query).returnResult().getStatus().value());
	}

	private static boolean isLocked(RunningSample sample) {
		Optional<LockHandle> handle = sample.bean(LockOperations.class)
			.tryAcquire(LockRequest.forLock(LockName.of("stock", "42")).waitTime(Duration.ZERO).build());
		handle.ifPresent(LockHandle::close);
		return handle.isEmpty();
	}

}
