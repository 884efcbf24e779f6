package io.holdfast.lock.fencing;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

import io.holdfast.lock.StaleFencingTokenException;
import io.holdfast.lock.test.server.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class RedisFencingGuardTests implements FencingGuardContract {

	/**
	 * A token as large as those of Redis, beyond the range in which a double is exact.
	 */
	private static final long GREAT = 1_790_000_000_000_000L << 10;

	private static RedisServer server;

	private static RedissonClient client;

	@BeforeAll
	static void startServer() {
		server = RedisServer.started();
		Config config = new Config();
		config.useSingleServer().setAddress(server.address());
		client = Redisson.create(config);
	}

	@AfterAll
	static void stopServer() {
		client.shutdown();
		server.close();
	}

	@Override
	public RedisFencingGuard guard() {
		client.getKeys().flushall();
		return new RedisFencingGuard(client, "fences", (hold) -> hold.backend() + "/" + hold.lock());
	}

	private static Object value() {
		return client.getBucket("data", StringCodec.INSTANCE).get();
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
		RedisFencingGuard guard = guard();
		guard.write(TestHold.of("42", 10, "a"), "data", "first");
		guard.write(TestHold.of("42", 20, "b"), "data", "second");
		assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> guard.write(TestHold.of("42", 10, "a"), "data", "late"))
			.withMessageContaining("token 20");
		assertThat(value()).isEqualTo("second");
	}

	@Test
	void writeUnderSeveralLocksNeedsThemAll() {
		RedisFencingGuard guard = guard();
		guard.advance(TestHold.of("b", 20, "other"));
		assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> guard.write(
					FencingGuardContract.several(TestHold.of("a", 30, "x"), TestHold.of("b", 10, "x")), "data", "late"))
			.withMessageContaining("'stock:b'");
		assertThat(value()).isNull();
	}

}
