package io.holdfast.sample;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.micrometer.core.instrument.MeterRegistry;
import org.assertj.core.api.AbstractStringAssert;
import org.junit.jupiter.api.Test;

import org.springframework.http.MediaType;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockLostException;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockNotAcquiredException;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.StaleFencingTokenException;
import io.holdfast.lock.backend.local.LocalLockBackend;
import io.holdfast.lock.engine.EngineSettings;
import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.engine.LockEngine;
import io.holdfast.lock.fencing.Fence;
import io.holdfast.lock.fencing.TransactionFence;
import io.holdfast.lock.spi.TransactionBoundary;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests the scrape of the real endpoint after each event that an operator monitors.
 */
class MetersTests {

	private static final long PRODUCT = 987654;

	private static final LockName LOCK = LockName.of("stock", PRODUCT);

	private static final String TAGS = "backend=\"local\",name=\"stock\"";

	@Test
	void prometheusReportsEachEventWithItsValue() {
		try (RunningSample sample = RunningSample.start("--distributed-lock.wait-time=30s")) {
			sample.setStock(PRODUCT, 10);
			waitForAnotherHolder(sample);
			timeOut(sample);
			loseDuringATransaction(sample);
			bringAStaleHolder(sample);
			assertMeter(sample, "acquire_seconds_count", TAGS + ",outcome=\"acquired\"", 5);
			assertMeter(sample, "acquire_seconds_count", TAGS + ",outcome=\"contended\"", 1);
			assertMeter(sample, "acquire_seconds_count", TAGS + ",outcome=\"timeout\"", 1);
			assertMeter(sample, "acquire_seconds_count", TAGS + ",outcome=\"error\"", 0);
			assertMeter(sample, "acquire_lease_ratio_percent_bucket", TAGS + ",le=\"50.0\"", 7);
			assertMeter(sample, "hold_seconds_count", TAGS, 6);
			assertMeter(sample, "hold_lease_ratio_percent_bucket", TAGS + ",le=\"80.0\"", 5);
			assertMeter(sample, "hold_lease_ratio_percent_bucket", TAGS + ",le=\"\\+Inf\"", 6);
			assertMeter(sample, "lost_total", TAGS.replace(",", ",cause=\"expired\","), 1);
			assertMeter(sample, "commit_refused_total", TAGS, 1);
			assertMeter(sample, "fencing_rejected_total", TAGS, 1);
			assertMeter(sample, "held", TAGS, 0);
			assertMeter(sample, "waiting", TAGS, 0);
			scraped(sample).doesNotContain(Long.toString(PRODUCT));
		}
	}

	private static void waitForAnotherHolder(RunningSample sample) {
		CompletableFuture<?> order;
		try (LockHandle held = sample.bean(LockOperations.class).acquire(request().build())) {
			order = CompletableFuture.runAsync(() -> sample.order(PRODUCT, "quantity=1").expectStatus().isCreated());
			await().untilAsserted(
					() -> assertThat(sample.bean(MeterRegistry.class).get("distributed.lock.waiting").gauge().value())
						.isOne());
			assertMeter(sample, "waiting", TAGS, 1);
			assertMeter(sample, "held", TAGS, 1);
		}
		order.join();
	}

	private static void timeOut(RunningSample sample) {
		LockOperations locks = sample.bean(LockOperations.class);
		try (LockHandle held = locks.acquire(request().build())) {
			assertThat(
					CompletableFuture.runAsync(() -> locks.acquire(request().waitTime(Duration.ofMillis(5)).build())))
				.failsWithin(Duration.ofSeconds(30))
				.withThrowableThat()
				.withCauseInstanceOf(LockNotAcquiredException.class);
		}
	}

	/** Holds the lock for longer than its lease, which nothing renews. */
	private static void loseDuringATransaction(RunningSample sample) {
		LockRequest shortLease = request().leaseTime(Duration.ofSeconds(1)).renew(false).build();
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> sample.bean(LockOperations.class).execute(shortLease, (held) -> {
				transaction(sample).executeWithoutResult((status) -> await().until(() -> !held.isHeld()));
				return null;
			}));
	}

	/** Another instance, whose store does not know this hold, gets the lock as well. */
	private static void bringAStaleHolder(RunningSample sample) {
		try (LockHandle stale = sample.bean(LockOperations.class).acquire(request().build())) {
			CompletableFuture.runAsync(() -> advanceFence(sample)).join();
			assertThatExceptionOfType(StaleFencingTokenException.class).as("transaction under %s", stale)
				.isThrownBy(() -> transaction(sample).executeWithoutResult((status) -> {
				}));
		}
	}

	private static void advanceFence(RunningSample sample) {
		try (LockEngine other = new LockEngine(new LockBackends(List.of(new LocalLockBackend()), "local"),
				EngineSettings.DEFAULTS, TransactionBoundary.NONE, List.of());
				LockHandle newer = other.acquire(request().build())) {
			TransactionFence fence = (TransactionFence) sample.bean(Fence.class);
			transaction(sample).executeWithoutResult((status) -> fence.advance(newer));
		}
	}

	private static TransactionTemplate transaction(RunningSample sample) {
		return new TransactionTemplate(sample.bean(PlatformTransactionManager.class));
	}

	private static LockRequest.Builder request() {
		return LockRequest.forLock(LOCK);
	}

	private static void assertMeter(RunningSample sample, String meter, String tags, int value) {
		scraped(sample).containsPattern("(?m)^distributed_lock_%s\\{%s} %s(\\.0)?$".formatted(meter, tags, value));
	}

	private static AbstractStringAssert<?> scraped(RunningSample sample) {
		return assertThat(sample.http()
			.get()
			.uri("/actuator/prometheus")
			.accept(MediaType.TEXT_PLAIN)
			.exchange()
			.expectStatus()
			.isOk()
			.expectBody(String.class)
			.returnResult()
			.getResponseBody());
	}

}
