package io.holdfast.lock.backend.redis;

import java.util.concurrent.CompletionException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.client.RedisException;
import org.redisson.client.RedisTimeoutException;

import io.holdfast.lock.LockConfigurationException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link RedisErrors}.
 */
class RedisErrorsTests {

	private final RedisErrors errors = new RedisErrors(TestRedis.options(0));

	@Test
	void longErrorOfTheServerDoesNotHideTheRemedy() {
		RedisException failure = new RedisException(
				"MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk. Commands that may modify the data set are disabled.");
		assertThat(this.errors.unreachable(failure)).isInstanceOf(LockConfigurationException.class)
			.hasMessage(
					"Redis at the test's server cannot store locks: 'MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk'. Redis rejects writes. Check its log; often its disk is full.");
	}

	/** As if all connections of the pool were in use. */
	@Test
	void detailsOfTheClientAreOmitted() {
		RedisException failure = new RedisException(
				"Unable to acquire connection! Increase connection pool size. Node source: 7, command: (EVALSHA), params: [1, secret]");
		assertThat(this.errors.unreachable(failure)).hasMessage(
				"Redis at the test's server could not be reached: Unable to acquire connection! Increase connection pool size. Node source: 7. Check that it is running and whether it uses TLS.");
	}

	/**
	 * The messages of Redis 7.0 and of Redis 8.0, neither of which has the code NOPERM.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "ERR The user executing the script can't run this command or subcommand script: 1",
			"ERR ACL failure in script: User app has no permissions to run the 'set' command script: 1" })
	void missingPermissionInAScriptNamesThePermissions(String message) {
		assertThat(this.errors.unreachable(new RedisException(message))).isInstanceOf(LockConfigurationException.class)
			.hasMessageContaining("Grant the user at least: ~test:*");
	}

	@Test
	void missingResponseNamesTheResponseTimeout() {
		RedisTimeoutException failure = new RedisTimeoutException(
				"Redis server response timeout (1000 ms) occurred after 0 retry attempts");
		assertThat(this.errors.unreachable(failure)).hasMessage(
				"Redis at the test's server could not be reached: no response in time. Check that it is running and responds within 'distributed-lock.response-timeout', and whether it uses TLS.");
	}

	/** As Redisson 3, which has no such type of result. */
	@Test
	void clientOfAnotherVersionIsNamedAsTheCause() {
		Throwable failure = new CompletionException(new NoSuchFieldError("LIST"));
		assertThat(this.errors.unreachable(failure)).isInstanceOf(LockConfigurationException.class)
			.hasMessage(
					"Redis at the test's server cannot store locks: this version of its client does not fit ('NoSuchFieldError: LIST'). Use Redisson in the version that 'holdfast-bom' manages, or set 'distributed-lock.redis.client=lettuce' and use Lettuce in that of Spring Boot.");
	}

}
