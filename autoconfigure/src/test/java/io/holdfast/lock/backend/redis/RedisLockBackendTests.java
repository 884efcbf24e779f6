package io.holdfast.lock.backend.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;

import org.assertj.core.data.Offset;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.RedisServer;

import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.released;
import static io.holdfast.lock.backend.redis.TestRedis.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link RedisLockBackend} that are specific to Redis: keys, scripts, limits
 * and replicas.
 */
class RedisLockBackendTests extends OneRedisServer {

	@Test
	void lockIsOneKeyThatExpires() throws Exception {
		Grant grant = granted(first, claim(Duration.ZERO));
		assertThat(server.ask("get", key("lock"))).isEqualTo(grant.claim().owner() + ":" + grant.storeToken());
		assertThat(Long.parseLong(server.ask("pttl", key("lock")))).isBetween(25_000L, 30_000L);
		assertThat(server.ask("get", key("token"))).isEqualTo(Long.toString(grant.storeToken()));
		assertThat(Long.parseLong(server.ask("ttl", key("token")))).isBetween(86_000L, 86_400L);
		released(first, grant);
	}

	@Test
	void tokenIsTimeOfTheServerAndGrowsEvenIfTheClockDoesNot() throws Exception {
		Grant grant = granted(first, claim(Duration.ZERO));
		assertThat(grant.storeToken() / 1_000_000)
			.isCloseTo(Long.parseLong(server.ask("time").lines().findFirst().get()), Offset.offset(60L));
		released(first, grant);
		long ahead = grant.storeToken() + 1_000_000_000_000L;
		server.ask("set", key("token"), Long.toString(ahead));
		Grant next = granted(first, claim(Duration.ZERO));
		assertThat(next.storeToken()).isEqualTo(ahead + 1);
		released(first, next);
	}

	@Test
	void flushedScriptsAreSentAgainWithinTheCall() throws Exception {
		List<Grant> grants = new ArrayList<>();
		for (int i = 0; i < 5; i++) {
			server.ask("script", "flush");
			grants.add(granted(first, claim(LockName.of("flush", "n" + i), Duration.ZERO)));
		}
		server.ask("script", "flush");
		assertThat(get(first.renew(grants))).hasSize(5).allMatch((result) -> result instanceof RenewResult.Renewed);
		server.ask("script", "flush");
		released(first, grants.get(0));
		server.ask("script", "flush");
		get(first.abandon(grants.get(1).claim()));
		for (Grant grant : grants.subList(2, 5)) {
			released(second, grant);
		}
	}

	@Test
	void renewalAnswersEachGrantInOrder() throws Exception {
		List<Grant> grants = new ArrayList<>();
		for (int i = 0; i < 600; i++) {
			grants.add(granted(first, claim(LockName.of("many", "n" + i), Duration.ZERO)));
		}
		for (int i = 0; i < 600; i += 2) {
			released(first, grants.get(i));
		}
		get(first.renew(grants.subList(0, 1)));
		List<RenewResult> results = new ArrayList<>();
		List<String> commands = server.watched(() -> results.addAll(get(first.renew(grants))));
		assertThat(commands).filteredOn((line) -> line.contains("\"EVAL")).hasSize(600);
		assertThat(results).hasSize(600);
		for (int i = 0; i < 600; i++) {
			assertThat(results.get(i))
				.isInstanceOf((i % 2 == 0) ? RenewResult.Refused.class : RenewResult.Renewed.class);
		}
		for (int i = 1; i < 600; i += 2) {
			released(first, grants.get(i));
		}
		assertThat(get(first.renew(List.of()))).isEmpty();
	}

	@Test
	void acquireAndReleaseAreOneRequestEachAndReadNoWaitQueue() throws Exception {
		released(first, granted(first, claim(Duration.ZERO)));
		List<String> commands = server.watched(() -> {
			released(first, granted(first, claim(Duration.ofSeconds(5))));
			return null;
		});
		assertThat(commands).filteredOn((line) -> line.contains("\"EVAL"))
			.hasSize(2)
			.allMatch((line) -> line.contains("\"EVALSHA\""));
		assertThat(commands).filteredOn((line) -> line.contains(" lua] ")).isNotEmpty();
		assertThat(commands).map((line) -> line.toLowerCase(Locale.ROOT))
			.noneMatch((line) -> line.contains("publish") || line.contains("zrange"));
	}

	@Test
	void fullMemoryEndsNoLeaseOfAReader() throws Exception {
		Grant grant = granted(first, shared(Duration.ZERO));
		server.ask("config", "set", "maxmemory", "1");
		try {
			assertThat(get(first.renew(List.of(grant)))).first().isInstanceOf(RenewResult.Renewed.class);
			released(first, grant);
		}
		finally {
			server.ask("config", "set", "maxmemory", "0");
		}
	}

	@Test
	void readersAreOneKeyThatEndsWithTheLastOfThem() throws Exception {
		Grant one = granted(first, shared(Duration.ZERO));
		Grant other = granted(second, shared(Duration.ZERO).withLeaseTime(Duration.ofSeconds(60)));
		assertThat(server.ask("zrange", key("readers"), "0", "-1").lines()).containsExactly(
				one.claim().owner() + ":" + one.storeToken(), other.claim().owner() + ":" + other.storeToken());
		assertThat(Long.parseLong(server.ask("pttl", key("readers")))).isBetween(55_000L, 60_000L);
		released(second, other);
		assertThat(Long.parseLong(server.ask("pttl", key("readers")))).isBetween(25_000L, 30_000L);
		assertThat(get(first.renew(List.of(one)))).first().isInstanceOf(RenewResult.Renewed.class);
		released(first, one);
		assertThat(server.ask("exists", key("readers"))).isEqualTo("0");
	}

	@ParameterizedTest
	@ValueSource(
			strings = { "}", "{", "{}", "a}b{c", "}:lock", "ключ \u00fc \u4e2d", "\"quoted\" 'too'", "a\\b", "*?[x]" })
	void keysWithOddCharactersAreLocksOfTheirOwn(String text) throws Exception {
		Grant odd = granted(first, claim(LockName.of("stock", text), Duration.ZERO));
		Grant plain = granted(first, claim(Duration.ZERO));
		refused(second, claim(LockName.of("stock", text), Duration.ZERO));
		released(first, plain);
		released(first, odd);
	}

	@Test
	void longestLeaseIsWithinTheLimitOfRedis() throws Exception {
		Claim claim = new Claim(this.lock, OwnerId.random(), LockMode.EXCLUSIVE, LockRequest.MAX_DURATION, false,
				LockRequest.MAX_DURATION, false);
		Grant grant = granted(first, claim);
		assertThat(grant.lease()).isEqualTo(LockRequest.MAX_DURATION);
		refused(second, new Claim(this.lock, OwnerId.random(), LockMode.EXCLUSIVE, claim.leaseTime(), false,
				claim.remainingWait(), false));
		server.ask("del", key("waiters"));
		released(first, grant);
	}

	@Test
	void keyOfAnotherKindIsExplained() {
		server.ask("lpush", key("lock"), "not a lock");
		try {
			assertThatExceptionOfType(ExecutionException.class)
				.isThrownBy(() -> get(first.tryAcquire(claim(Duration.ofSeconds(3)))))
				.havingCause()
				.isInstanceOf(LockBackendException.class)
				.withMessageContaining("Lock '" + this.lock + "' could not be acquired")
				.withMessageContaining("WRONGTYPE")
				.withMessageContaining("set a 'distributed-lock.namespace'");
		}
		finally {
			server.ask("del", key("lock"));
		}
	}

	@Test
	void fullMemoryIsExplainedAndReleaseStillWorks() throws Exception {
		Grant grant = granted(first, claim(Duration.ZERO));
		server.ask("config", "set", "maxmemory", "1");
		try {
			assertThatExceptionOfType(ExecutionException.class)
				.isThrownBy(() -> get(first.tryAcquire(claim(LockName.of("other"), Duration.ZERO))))
				.havingCause()
				.isInstanceOf(LockBackendException.class)
				.withMessageContaining("Raise its 'maxmemory'");
			assertThat(get(first.renew(List.of(grant)))).first().isInstanceOf(RenewResult.Renewed.class);
			released(first, grant);
		}
		finally {
			server.ask("config", "set", "maxmemory", "0");
		}
	}

	@Test
	void requestThatTimesOutHasAnUnknownOutcome() throws Exception {
		Grant grant = granted(first, claim(Duration.ZERO));
		Claim other = claim(Duration.ZERO);
		try (RedisLockBackend impatient = this.library.backend(server.address(), TestRedis.options(0))) {
			server.pause();
			long start = System.nanoTime();
			List<CompletionStage<?>> answers = List.of(impatient.tryAcquire(other), impatient.renew(List.of(grant)),
					impatient.release(grant));
			assertThat(get(answers.get(0))).isInstanceOf(AcquireResult.Indeterminate.class);
			assertThat((List<?>) get(answers.get(1))).first().isInstanceOf(RenewResult.Indeterminate.class);
			assertThat(get(answers.get(2))).isInstanceOf(ReleaseResult.Indeterminate.class);
			assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(Duration.ofMillis(900));
			server.resume();
		}
		Awaitility.await("an answer").until(() -> !(get(first.release(grant)) instanceof ReleaseResult.Indeterminate));
		// Redis may have executed the release before the acquisition
		get(first.abandon(other));
		assertThat(server.ask("exists", key("lock"))).isEqualTo("0");
	}

	@Test
	void requestToAReadOnlyServerHasAnUnknownOutcome() throws Exception {
		try (RedisServer replica = server.startReplica()) {
			server.ask("config", "set", "min-replicas-to-write", "2");
			assertThat(get(first.tryAcquire(claim(Duration.ZERO)))).isInstanceOf(AcquireResult.Indeterminate.class);
			RedisLockOptions options = TestRedis.options(0);
			RedisLockBackend onReplica = new RedisLockBackend(this.library.client(replica.address(), options), options);
			assertThat(get(onReplica.tryAcquire(claim(Duration.ZERO)))).isInstanceOf(AcquireResult.Indeterminate.class);
			onReplica.close();
		}
		finally {
			server.ask("config", "set", "min-replicas-to-write", "0");
		}
	}

	@Test
	void grantThatReplicasHaveCounts() throws Exception {
		RedisLockBackend careful = this.library.backend(server.address(), TestRedis.patientOptions(1));
		try (RedisServer replica = server.startReplica()) {
			server.ask("script", "flush");
			Grant grant = granted(careful, claim(Duration.ofSeconds(5)));
			assertThat(replica.ask("get", key("lock"))).startsWith(grant.claim().owner().value());
			server.ask("script", "flush");
			assertThat(get(careful.renew(List.of(grant)))).first().isInstanceOf(RenewResult.Renewed.class);
			refused(careful, claim(Duration.ZERO));
			released(careful, grant);
		}
		finally {
			careful.close();
		}
	}

	/** The earlier attempt waits for a replica that does not exist. */
	@Test
	void unconfirmedAttemptDoesNotReleaseWhatALaterOneWasGranted() throws Exception {
		try (RedisLockBackend careful = this.library.backend(server.address(), TestRedis.options(1))) {
			Claim claim = claim(Duration.ofSeconds(5));
			CompletionStage<AcquireResult> unconfirmed = careful.tryAcquire(claim);
			Awaitility.await("the grant").until(() -> server.ask("exists", key("lock")).equals("1"));
			Grant grant = granted(first, claim);
			assertThat(get(unconfirmed)).isInstanceOf(AcquireResult.Indeterminate.class);
			assertThat(get(first.renew(List.of(grant)))).first().isInstanceOf(RenewResult.Renewed.class);
			released(first, grant);
		}
	}

	@Slow
	@Test
	void grantThatReplicasLackDoesNotCountAndIsWithdrawnWithItsClaim() throws Exception {
		RedisLockBackend careful = this.library.backend(server.address(), TestRedis.options(2));
		try (RedisServer replica = server.startReplica()) {
			Claim claim = claim(Duration.ofSeconds(5));
			// on a busy machine, the response itself may be late
			Awaitility.await()
				.untilAsserted(() -> assertThat(get(careful.tryAcquire(claim))).isInstanceOfSatisfying(
						AcquireResult.Indeterminate.class,
						(result) -> assertThat(result.cause())
							.hasMessageContaining("Lock '" + this.lock + "' reached 1 of 2 replicas")
							.hasMessageContaining("lower 'distributed-lock.redis.wait-replicas'")));
			get(careful.abandon(claim));
			assertThat(server.ask("exists", key("lock"))).isEqualTo("0");
			Grant grant = granted(first, claim(Duration.ZERO));
			assertThat(get(careful.renew(List.of(grant)))).first().isInstanceOf(RenewResult.Indeterminate.class);
			released(first, grant);
		}
		finally {
			careful.close();
		}
	}

}
