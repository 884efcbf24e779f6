package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.LossCause;
import io.holdfast.lock.observation.MicrometerLockObserver;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.spi.TransactionBoundary;

import static io.holdfast.lock.test.EngineSettingsBuilder.settings;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests a run with faults of every kind: each loss is counted once, by the cause that is
 * reported to its holder.
 */
class LossCountTests {

	private static final int HOLDS = 2_000;

	private final ManualTime time = new ManualTime();

	private final FakeBackend backend = new FakeBackend();

	private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

	private final LockEngine engine = new LockEngine(new LockBackends(List.of(this.backend), "fake"),
			settings().shutdownTimeout(Duration.ZERO).build(), TransactionBoundary.NONE,
			new MicrometerLockObserver(this.registry), this.time, Runnable::run, () -> {
			});

	private final EngineInspector inspector = new EngineInspector(this.engine,
			new LockBackends(List.of(this.backend), "fake"), (event) -> {
			});

	private final Map<LossCause, Integer> notified = new EnumMap<>(LossCause.class);

	@Test
	void countedLossesEqualNotifiedLosses() {
		Random random = new Random(1);
		List<LockHandle> open = new ArrayList<>();
		for (int i = 0; i < HOLDS; i++) {
			this.backend.revoked = new CompletableFuture<>();
			LockHandle handle = hold(i, random.nextInt(4) > 0, random.nextInt(8) == 0);
			open.add(handle);
			switch (random.nextInt(8)) {
				case 0 -> this.backend.renewals.add((grant) -> CompletableFuture
					.completedFuture(List.of(new RenewResult.Refused(), new RenewResult.Refused())));
				case 1 -> this.backend.renewals.add((grant) -> new CompletableFuture<>());
				case 2 -> revokeAll();
				case 3 -> this.backend.owners.remove(handle.lock());
				case 4 -> this.inspector.forceRelease(handle.lock());
				case 5 -> this.time.pause(Duration.ofSeconds(random.nextInt(40)));
				default -> open.remove(random.nextInt(open.size())).close();
			}
			this.time.advance(Duration.ofMillis(random.nextInt(2_000)));
		}
		LockHandle last = hold(HOLDS, true, false);
		this.engine.close();
		open.forEach(LockHandle::close);
		last.close();
		assertThat(this.notified).containsOnlyKeys(LossCause.values());
		this.notified.forEach((cause, times) -> {
			String tag = cause.name().toLowerCase(Locale.ROOT).replace('_', '-');
			assertThat(this.registry.get("distributed.lock.lost").tag("cause", tag).counter().count()).as(tag)
				.isEqualTo(times.doubleValue());
		});
	}

	private void revokeAll() {
		CompletableFuture<Void> present = this.backend.revoked;
		this.backend.revoked = new CompletableFuture<>();
		present.complete(null);
	}

	private LockHandle hold(int key, boolean renew, boolean atMostForAMinute) {
		LockRequest.Builder request = LockRequest.forLock(LockName.of("stock", "" + key)).renew(renew);
		LockHandle handle = this.engine
			.acquireAsync((atMostForAMinute ? request.maxHold(Duration.ofMinutes(1)) : request).build())
			.toCompletableFuture()
			.join();
		handle.onLost((event) -> this.notified.merge(event.cause(), 1, Integer::sum));
		return handle;
	}

}
