package io.holdfast.lock.backend.redis;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;
import org.redisson.client.RedisException;
import org.redisson.client.RedisTimeoutException;

import io.holdfast.lock.LockException;
import io.holdfast.lock.LockName;
import io.holdfast.lock.backend.Verbs;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.support.SchedulingClock;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for renewals on several nodes, one of which does not respond.
 */
class RedisRenewalTests {

	private static final LockName ANSWERED = LockName.of("stock", "answered");

	private static final LockName SILENT = LockName.of("stock", "silent");

	private static final RedisLockOptions OPTIONS = TestRedis.options(0);

	private final Map<String, CompletableFuture<List<Object>>> answers = new HashMap<>();

	private final List<Runnable> timers = new ArrayList<>();

	private final SchedulingClock clock = new SchedulingClock() {

		@Override
		public long nanos() {
			return 0;
		}

		@Override
		public Runnable after(long delayNanos, Runnable task) {
			assertThat(Duration.ofNanos(delayNanos)).isLessThan(OPTIONS.responseTimeout());
			RedisRenewalTests.this.timers.add(task);
			return () -> RedisRenewalTests.this.timers.remove(task);
		}

	};

	private final RedisRenewals renewals = new RedisRenewals(new RedisScripts(cluster(), OPTIONS),
			new RedisErrors(OPTIONS), OPTIONS, this.clock);

	@Test
	void silentNodeDoesNotDelayTheAnswersOfOthers() {
		CompletableFuture<List<RenewResult>> results = renew();
		answer(ANSWERED);
		assertThat(results).isNotDone();
		List.copyOf(this.timers).forEach(Runnable::run);
		assertThat(results).isCompleted();
		assertThat(results.join().get(0)).isInstanceOf(RenewResult.Renewed.class);
		assertThat(results.join().get(1)).isInstanceOf(RenewResult.Indeterminate.class);
		assertThat(this.timers).isEmpty();
	}

	@Test
	void noTimerIsLeftWhenAllNodesHaveAnswered() {
		CompletableFuture<List<RenewResult>> results = renew();
		answer(ANSWERED);
		answer(SILENT);
		assertThat(results).isCompleted();
		assertThat(results.join()).hasOnlyElementsOfType(RenewResult.Renewed.class);
		assertThat(this.timers).isEmpty();
	}

	/** The text of the client has parameters and channels instead of a remedy. */
	@Test
	void failedRenewalSaysWhatToDo() {
		CompletableFuture<List<RenewResult>> results = renew();
		fail(ANSWERED, new RedisTimeoutException("Unable to write command into connection! params: [1, secret]"));
		fail(SILENT, new RedisException("NOPERM this user has no permissions. channel: [id: 0x1] params: [secret]"));
		assertThat(failure(results.join().get(0))).isInstanceOf(LockException.class)
			.hasMessageContaining("could not be reached: no response in time. Check that it is running");
		assertThat(failure(results.join().get(1))).isInstanceOf(LockException.class)
			.hasMessageContaining("could not be renewed")
			.hasMessageContaining("Grant the user at least");
		assertThat(results.join()).extracting((result) -> failure(result).getMessage())
			.noneMatch((message) -> message.contains("secret"));
	}

	private static Throwable failure(RenewResult result) {
		return ((RenewResult.Indeterminate) result).cause();
	}

	private void fail(LockName lock, Throwable failure) {
		this.answers.get(RedisKeys.of(OPTIONS.namespace(), lock).lock()).completeExceptionally(failure);
	}

	private CompletableFuture<List<RenewResult>> renew() {
		return this.renewals.renew(List.of(new Grant(Verbs.claim(ANSWERED), 1, Duration.ofSeconds(30)),
				new Grant(Verbs.claim(SILENT), 2, Duration.ofSeconds(30))))
			.toCompletableFuture();
	}

	private void answer(LockName lock) {
		this.answers.get(RedisKeys.of(OPTIONS.namespace(), lock).lock()).complete(List.of(1L));
	}

	private ScriptClient cluster() {
		return (ScriptClient) Proxy.newProxyInstance(ScriptClient.class.getClassLoader(),
				new Class<?>[] { ScriptClient.class }, (self, method, args) -> switch (method.getName()) {
					case "severalNodes" -> true;
					case "evalSha" -> this.answers.computeIfAbsent(((List<?>) args[1]).get(0).toString(),
							(lock) -> new CompletableFuture<>());
					default -> throw new UnsupportedOperationException(method.getName());
				});
	}

}
