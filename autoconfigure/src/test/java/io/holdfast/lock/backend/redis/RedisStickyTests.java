package io.holdfast.lock.backend.redis;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.engine.EngineInspector;
import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.engine.LockEngine;
import io.holdfast.lock.spi.TransactionBoundary;

import static io.holdfast.lock.test.EngineSettingsBuilder.settings;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests sticky leases of two engines at one Redis server. The leases are so long that a
 * lock changes its engine only on demand.
 */
class RedisStickyTests extends OneRedisServer {

	private static final Pattern SCRIPT_CALLS = Pattern.compile("cmdstat_eval(?:sha)?:calls=(\\d+)");

	private static final int PAIRS = 1_000;

	private static final Duration LONG = Duration.ofHours(1);

	private final LockEngine one = engine(first, LONG);

	private final LockEngine other = engine(second, Duration.ZERO);

	/** Returns an engine whose leases last longer than any test. */
	static LockEngine engine(RedisLockBackend backend, Duration sticky) {
		return new LockEngine(new LockBackends(List.of(backend), RedisLockBackend.NAME),
				settings().leaseTime(LONG).sticky(sticky).build(), TransactionBoundary.NONE, List.of());
	}

	@Override
	@AfterEach
	void nothingIsLeftButTokens() {
		this.one.close();
		this.other.close();
		super.nothingIsLeftButTokens();
		assertThat(first.waiting()).isZero();
	}

	private LockRequest request(Duration waitTime) {
		return LockRequest.forLock(this.lock).waitTime(waitTime).build();
	}

	private FencingToken token(LockEngine engine) {
		return engine.execute(request(Duration.ofSeconds(30)), LockHandle::fencingToken);
	}

	private static long scriptCalls() {
		Matcher calls = SCRIPT_CALLS.matcher(server.ask("info", "commandstats"));
		long sum = 0;
		while (calls.find()) {
			sum += Long.parseLong(calls.group(1));
		}
		return sum;
	}

	@Test
	void twoRequestsServeManyPairs() {
		assertThat(requestsOfPairs(this.one)).isEqualTo(2);
	}

	@Test
	void eachPairTakesTwoRequestsByDefault() {
		assertThat(requestsOfPairs(this.other)).isEqualTo(2 * PAIRS);
	}

	/** Counts the scripts, including the last release, which the engine awaits. */
	private long requestsOfPairs(LockEngine engine) {
		server.ask("config", "resetstat");
		for (int i = 0; i < PAIRS; i++) {
			token(engine);
		}
		engine.close();
		return scriptCalls();
	}

	@Test
	void engineWithoutStickyLeasesDemandsThem() {
		FencingToken before = token(this.one);
		assertThat(token(this.other)).isGreaterThan(before);
		assertThat(token(this.one)).isGreaterThan(before);
	}

	@Test
	void callerThatDoesNotWaitDemandsTheLease() {
		token(this.one);
		Awaitility.await().until(() -> {
			Optional<LockHandle> handle = this.other.tryAcquire(request(Duration.ZERO));
			handle.ifPresent(LockHandle::close);
			return handle.isPresent();
		});
	}

	@Test
	void idleLeaseIsNotTakenOverAfterAForcedReleaseThroughAnotherInstance() {
		token(this.one);
		inspector(this.other, second).forceRelease(this.lock);
		try (LockHandle next = this.other.acquire(request(Duration.ZERO))) {
			Awaitility.await().until(() -> inspector(this.one, first).held().isEmpty());
			assertThat(this.one.tryAcquire(request(Duration.ZERO))).isEmpty();
			assertThat(next.isHeld()).isTrue();
		}
	}

	private static EngineInspector inspector(LockEngine engine, RedisLockBackend backend) {
		return new EngineInspector(engine, new LockBackends(List.of(backend), RedisLockBackend.NAME), (event) -> {
		});
	}

	@Test
	void leaseInUseIsRefused() {
		try (LockHandle held = this.one.acquire(request(Duration.ZERO))) {
			assertThat(this.other.tryAcquire(request(Duration.ZERO))).isEmpty();
			assertThat(held.isHeld()).isTrue();
		}
		Awaitility.await().until(() -> server.keys("*").stream().allMatch((key) -> key.endsWith("}:token")));
	}

}
