package io.holdfast.lock.backend.redis;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.AcquireResult.Acquired;
import io.holdfast.lock.spi.AcquireResult.Contended;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.RedisSentinel;

import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.redis.TestRedis.get;
import static org.assertj.core.api.Assertions.assertThat;

@ParameterizedClass(name = "{0}")
@EnumSource(RedisLibrary.class)
@Slow
class RedisSentinelTests {

	@Parameter
	private RedisLibrary library;

	@Test
	void locksAndNotificationsWorkAfterAFailoverAndTokensGrow() throws Exception {
		try (RedisSentinel group = RedisSentinel.started();
				RedisLockBackend first = backend(group);
				RedisLockBackend second = backend(group)) {
			Grant before = granted(first, claim(Duration.ZERO));
			assertThat(group.primary().ask("wait", "1", "2000")).isEqualTo("1");
			group.failOver();
			Claim waiting = claim(Duration.ofSeconds(30));
			AcquireResult refused = eventually(second, waiting);
			assertThat(refused).as("the replica knew of the lock").isInstanceOf(Contended.class);
			release(first, before);
			Grant after = ((Acquired) eventually(second, waiting)).grant();
			assertThat(after.storeToken()).isGreaterThan(before.storeToken());
			assertEventuallyNotified(first, second, after);
		}
	}

	@Test
	void clientsFollowWhenTheFormerPrimaryTakesOverAgain() throws Exception {
		try (RedisSentinel group = RedisSentinel.started();
				RedisLockBackend first = backend(group);
				RedisLockBackend second = backend(group)) {
			group.failOver();
			Grant before = ((Acquired) eventually(first, claim(Duration.ZERO))).grant();
			group.reunite();
			assertThat(group.primary().ask("wait", "1", "2000")).isEqualTo("1");
			group.switchRoles();
			assertThat(eventually(second, claim(Duration.ZERO))).as("it follows and knows of the lock")
				.isInstanceOf(Contended.class);
			release(first, before);
			Grant after = ((Acquired) eventually(second, claim(Duration.ZERO))).grant();
			assertThat(after.storeToken()).isGreaterThan(before.storeToken());
			assertEventuallyNotified(first, second, after);
		}
	}

	private static void assertEventuallyNotified(RedisLockBackend first, RedisLockBackend second, Grant held)
			throws Exception {
		Grant[] grant = { held };
		Awaitility.await("the channel listens again").atMost(Duration.ofMinutes(1)).until(() -> {
			Claim waiting = claim(Duration.ofSeconds(9));
			Contended contended = (Contended) eventually(first, waiting);
			release(second, grant[0]);
			boolean notified = contended.signal()
				.toCompletableFuture()
				.handle((value, failure) -> true)
				.completeOnTimeout(false, 500, TimeUnit.MILLISECONDS)
				.get();
			answered(() -> get(first.abandon(waiting)) == null);
			grant[0] = ((Acquired) eventually(second, claim(Duration.ZERO))).grant();
			return notified;
		});
		release(second, grant[0]);
	}

	/**
	 * Retries the release until it succeeds. An earlier attempt may have released the
	 * lock already.
	 */
	private static void release(RedisLockBackend backend, Grant grant) {
		AtomicBoolean repeated = new AtomicBoolean();
		answered(() -> {
			boolean again = repeated.getAndSet(true);
			ReleaseResult result = get(backend.release(grant));
			return result instanceof ReleaseResult.Released || (again && result instanceof ReleaseResult.NotHeld);
		});
	}

	/**
	 * Retries a request until it succeeds, because a client that has just reconnected may
	 * respond late.
	 */
	private static void answered(Callable<Boolean> request) {
		Awaitility.await().atMost(Duration.ofSeconds(20)).ignoreExceptions().until(request);
	}

	private static AcquireResult eventually(RedisLockBackend backend, Claim claim) {
		return Awaitility.await()
			.atMost(Duration.ofSeconds(20))
			.until(() -> get(backend.tryAcquire(claim)), (result) -> !(result instanceof AcquireResult.Indeterminate));
	}

	private RedisLockBackend backend(RedisSentinel group) {
		RedisLockOptions options = TestRedis.options(0);
		return TestRedis.started(this.library.ofSentinel(group.sentinel(), options), options);
	}

	private static Claim claim(Duration waitTime) {
		return new Claim(LockName.of("failover"), OwnerId.random(), LockMode.EXCLUSIVE, Duration.ofSeconds(60), false,
				waitTime, false);
	}

}
