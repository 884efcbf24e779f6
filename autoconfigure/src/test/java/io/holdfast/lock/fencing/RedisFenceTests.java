package io.holdfast.lock.fencing;

import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.redisson.client.RedisException;
import org.redisson.client.RedisTimeoutException;

import io.holdfast.lock.LockBackendException;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link RedisFence}.
 */
class RedisFenceTests {

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
			CROSSSLOT Keys in request don't hash to the same slot | the same hash tag
			READONLY You can't write against a read only replica. | Connect to its master
			ERR Error running script (call to f_1): @user_script:13: WRONGTYPE Operation against a key | Use another key
			NOPERM this user has no permissions to run the 'evalsha' command | +evalsha +eval +hget +hset +set
			command not allowed when used memory > 'maxmemory'. | Raise the 'maxmemory'
			""")
	void errorOfTheServerNamesItsRemedy(String error, String remedy) {
		assertFails(new RedisException(error + " channel: [id: 1] command: (EVALSHA), params: [fences, NOAUTH secret]"),
				remedy);
	}

	@Test
	void timeoutMayHaveSetTheValue() {
		assertFails(new RedisTimeoutException("No response, command: (EVALSHA), params: [fences, READONLY secret]"),
				"The outcome is unknown");
	}

	private static void assertFails(RuntimeException failure, String remedy) {
		RedisFence fence = new RedisFence(new FailingScripts(failure), "fences", RedisFencingGuardContract::id);
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> fence.write(TestHold.of("42", 10, "a"), "data", "secret"))
			.withCause(failure)
			.withMessageStartingWith("Lock 'stock:42' (backend redis, token 10): its fence in Redis failed with '")
			.withMessageContaining(remedy)
			.withMessageNotContaining("secret");
	}

	private record FailingScripts(RuntimeException failure) implements RedisFence.Scripts {

		@Override
		public List<String> evalSha(String sha1, List<String> keys, List<String> arguments) {
			throw this.failure;
		}

		@Override
		public List<String> eval(String text, List<String> keys, List<String> arguments) {
			throw new AssertionError("the script was known");
		}

	}

}
