package io.holdfast.lock.fencing;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.StaleFencingTokenException;
import io.holdfast.lock.test.server.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Contract of the guards of Redis, which differ in their client library.
 */
abstract class RedisFencingGuardContract implements FencingGuardContract {

	/**
	 * A token as large as those of Redis, beyond the range in which a double is exact.
	 */
	private static final long GREAT = 1_790_000_000_000_000L << 10;

	static RedisServer server;

	@BeforeAll
	static void startServer() {
		server = RedisServer.started();
	}

	@AfterAll
	static void stopServer() {
		server.close();
	}

	/** Returns a guard with the given key. */
	abstract FencingGuard guard(String key);

	/** Sets a value through a guard of {@link #guard()}. */
	abstract void write(FencingGuard guard, LockHandle hold, String value);

	@Override
	public FencingGuard guard() {
		server.ask("flushall");
		return guard("fences");
	}

	static String id(LockHandle hold) {
		return hold.backend() + "/" + hold.lock();
	}

	private static long calls(String command) {
		return server.ask("info", "commandstats")
			.lines()
			.filter((line) -> line.startsWith("cmdstat_" + command + ":calls="))
			.mapToLong((line) -> Long.parseLong(line.replaceAll(".*:calls=(\\d+),.*", "$1")))
			.sum();
	}

	@Test
	void tokensThatDifferByOneAreDistinguished() {
		FencingGuard guard = guard();
		guard.advance(TestHold.of("42", GREAT + 1, "b"));
		assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> guard.advance(TestHold.of("42", GREAT, "a")));
		guard.advance(TestHold.of("42", GREAT + 2, "c"));
	}

	@Test
	void overtakenHolderWritesNothing() {
		FencingGuard guard = guard();
		write(guard, TestHold.of("42", 10, "a"), "first");
		write(guard, TestHold.of("42", 20, "b"), "second");
		assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> write(guard, TestHold.of("42", 10, "a"), "late"))
			.withMessageContaining("token 20");
		assertThat(server.ask("get", "data")).isEqualTo("second");
	}

	@Test
	void writeUnderSeveralLocksNeedsThemAll() {
		FencingGuard guard = guard();
		guard.advance(TestHold.of("b", 20, "other"));
		assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> write(guard,
					FencingGuardContract.several(TestHold.of("a", 30, "x"), TestHold.of("b", 10, "x")), "late"))
			.withMessageContaining("'stock:b'");
		assertThat(server.keys("data")).isEmpty();
	}

	/**
	 * How often an unknown script is sent depends on the script cache of Redisson.
	 */
	@Test
	void knownScriptIsOneRequestWithoutItsText() {
		FencingGuard guard = guard();
		server.ask("script", "flush");
		guard.advance(TestHold.of("42", 10, "a"));
		server.ask("config", "resetstat");
		guard.advance(TestHold.of("42", 11, "b"));
		write(guard, TestHold.of("42", 11, "b"), "new");
		assertThat(calls("evalsha")).isEqualTo(2);
		assertThat(calls("eval")).isZero();
	}

	@Test
	void errorOfTheServerNamesTheLockAndTheRemedyAndNotTheValue() {
		FencingGuard guard = guard();
		server.ask("set", "fences", "other data");
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> write(guard, TestHold.of("42", 10, "a"), "secret"))
			.withMessageContainingAll("'stock:42'", "WRONGTYPE", "Use another key.")
			.withMessageNotContaining("secret")
			.withMessageNotContaining("..");
	}

}
