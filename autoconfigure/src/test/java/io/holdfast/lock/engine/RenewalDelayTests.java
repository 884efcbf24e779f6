package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;

import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.backend.local.LocalLockBackend;
import io.holdfast.lock.observation.MicrometerLockObserver;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.TransactionBoundary;
import io.holdfast.lock.test.Slow;

import static io.holdfast.lock.engine.EngineFixture.request;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that renewals are sent in time, while threads on all processors do other work and
 * produce garbage, or after a late grant, and that their delay is measured.
 */
class RenewalDelayTests {

	private static final int HOLDS = 1_000;

	private static final Duration LEASE = Duration.ofSeconds(9);

	@Slow
	@Test
	void thousandHoldsSurviveABusyMachineWithMeasuredDelays() {
		SimpleMeterRegistry registry = new SimpleMeterRegistry();
		AtomicBoolean busy = new AtomicBoolean(true);
		try (LockEngine engine = new LockEngine(new LockBackends(List.of(new LocalLockBackend()), "local"),
				EngineSettings.DEFAULTS, TransactionBoundary.NONE, List.of(new MicrometerLockObserver(registry)))) {
			List<LockHandle> holds = IntStream.range(0, HOLDS)
				.mapToObj((i) -> engine
					.acquireAsync(LockRequest.forLock(LockName.of("stock", "" + i)).leaseTime(LEASE).build())
					.toCompletableFuture()
					.join())
				.toList();
			IntStream.range(0, Runtime.getRuntime().availableProcessors())
				.forEach((i) -> new Thread(() -> makeGarbage(busy)).start());
			Timer delay = registry.get("distributed.lock.renewal.delay").timer();
			Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> delay.count() >= 2 * HOLDS);
			assertThat(holds).allMatch(LockHandle::isHeld);
			assertThat(delay.max(TimeUnit.MILLISECONDS)).isPositive();
			holds.forEach(LockHandle::close);
		}
		finally {
			busy.set(false);
		}
	}

	/** The validity starts before the request, so little of it is left. */
	@Test
	void leaseWhoseGrantWasLateIsRenewedBeforeItEnds() {
		EngineFixture fixture = new EngineFixture();
		CompletableFuture<AcquireResult> answer = new CompletableFuture<>();
		fixture.backend.acquires.add((claim) -> answer);
		CompletableFuture<LockHandle> acquired = fixture.acquire(request().leaseTime(LEASE));
		AcquireResult grant = fixture.backend.answer(fixture.backend.claims.get(0));
		fixture.time.pause(LEASE.multipliedBy(3).dividedBy(4));
		answer.complete(grant);
		assertThat(acquired.join().remainingValidity()).isLessThan(LEASE.dividedBy(3));
		fixture.time.advance(LEASE);
		assertThat(fixture.record.losses).isEmpty();
		assertThat(acquired.join().isHeld()).isTrue();
		assertThat(fixture.record.delays).isNotEmpty().containsOnly(Duration.ZERO);
	}

	private static void makeGarbage(AtomicBoolean busy) {
		List<byte[]> some = new ArrayList<>();
		while (busy.get()) {
			some.add(new byte[10_000]);
			if (some.size() > 1_000) {
				some.clear();
			}
		}
	}

}
