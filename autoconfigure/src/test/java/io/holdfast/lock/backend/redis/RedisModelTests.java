package io.holdfast.lock.backend.redis;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.test.server.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares the model with a real Redis server. The same requests in the same order, at
 * times within some milliseconds of each other, have the same results.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RedisModelTests {

	private static final int SEQUENCES = 100;

	private static final int LENGTH = 50;

	/** Exceeds any time, so that tokens do not depend on the clock. */
	private static final long FIRST_TOKEN = 4_000_000_000_000_000L;

	/** Unit of leases and positions, which last up to three of these, in milliseconds. */
	private static final long UNIT = 40_000;

	/** Advance of the clock. No lease or position ends near a multiple of it. */
	private static final Duration STEP = Duration.ofSeconds(50);

	private static final long NEAR = UNIT / 4;

	private static final String CHANNELS = "model:wake:";

	private static final String LISTENS = "listens";

	private final RedisKeys keys = RedisKeys.of("model", LockName.of("lock", "of the test"));

	private final RedisServer server = RedisServer.started();

	private ScriptClient client;

	private RedisScripts redis;

	private Duration passed = Duration.ZERO;

	@BeforeAll
	void connect() throws Exception {
		this.server.ownWallClock();
		this.server.restart();
		RedisLockOptions options = new RedisLockOptions("model", Duration.ofSeconds(10), 0, Duration.ZERO,
				"the test's");
		this.client = RedisLibrary.REDISSON.client(this.server.address(), options);
		this.redis = new RedisScripts(this.client, options);
		TestRedis.get(this.client.subscribe(CHANNELS + LISTENS, (owner) -> {
		}));
	}

	@AfterAll
	void close() {
		this.client.close();
		this.server.close();
	}

	@Test
	void modelAnswersAsRedisDoes() throws Exception {
		for (int seed = 0; seed < SEQUENCES; seed++) {
			compare(seed);
		}
	}

	private void compare(int seed) throws Exception {
		RedisModel model = new RedisModel(this::micros, (channel, owner) -> channel.endsWith(LISTENS) ? 1 : 0);
		this.server.ask("del", this.keys.lock(), this.keys.token(), this.keys.waiters(), this.keys.readers());
		this.server.ask("set", this.keys.token(), String.valueOf(FIRST_TOKEN));
		model.remember(this.keys, FIRST_TOKEN);
		Random random = new Random(seed);
		List<String> history = new ArrayList<>();
		for (int i = 0; i < LENGTH; i++) {
			if (random.nextInt(8) == 0) {
				this.passed = this.passed.plus(STEP);
				this.server.moveWallClock(this.passed);
				history.add("time passes");
			}
			Request request = request(random);
			history.add(request.toString());
			List<Object> real = this.redis.run(request.script(), request.keys(), request.args())
				.toCompletableFuture()
				.get(10, TimeUnit.SECONDS);
			List<Object> modelled = model.run(request.script().sha1(), request.keys(), request.args());
			assertNear(modelled, real, "the last of %s (seed %d)".formatted(history, seed));
		}
	}

	private static void assertNear(List<Object> modelled, List<Object> real, String request) {
		assertThat(modelled).as("answer to " + request).hasSameSizeAs(real);
		for (int k = 0; k < real.size(); k++) {
			long near = ((Long) real.get(0) == 1) ? 0 : (k == 1) ? NEAR : (k == 2) ? NEAR * 1_000 : 0;
			assertThat((Long) modelled.get(k)).as("number " + k + " in the answer to " + request)
				.isBetween((Long) real.get(k) - near, (Long) real.get(k) + near);
		}
	}

	private long micros() {
		return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now().plus(this.passed));
	}

	private Request request(Random random) {
		String owner = "owner-" + random.nextInt(4);
		String grant = owner + ":" + (FIRST_TOKEN + 1 + random.nextInt(8));
		long lease = UNIT * (1 + random.nextInt(3));
		List<Object> all = this.keys.asList();
		return switch (random.nextInt(8)) {
			case 0 -> renewal(grant, lease, mode(random));
			case 1, 2 -> new Request("release", RedisScript.RELEASE, all, grant, CHANNELS, RedisTimes.IDLE_TOKEN_MILLIS,
					LISTENS);
			case 3 -> new Request("abandon", RedisScript.ABANDON, all, owner, CHANNELS, RedisTimes.IDLE_TOKEN_MILLIS);
			default -> acquire(random, owner, lease);
		};
	}

	private static LockMode mode(Random random) {
		return LockMode.values()[random.nextInt(2)];
	}

	private Request renewal(String grant, long lease, LockMode mode) {
		return new Request("renew", RedisScript.RENEW, List.of(this.keys.grants(mode)), grant, lease, mode.name());
	}

	private Request acquire(Random random, String owner, long lease) {
		String instance = random.nextBoolean() ? LISTENS : "is gone";
		LockMode mode = mode(random);
		List<Object> args = new ArrayList<>(List.of(owner, lease, UNIT * random.nextInt(4), instance,
				RedisTimes.IDLE_TOKEN_MILLIS, mode.name(), bit(random), bit(random)));
		if (mode == LockMode.EXCLUSIVE && random.nextBoolean()) {
			args.add(CHANNELS + instance);
		}
		return new Request("acquire", RedisScript.ACQUIRE, this.keys.asList(), args.toArray());
	}

	private static String bit(Random random) {
		return random.nextBoolean() ? "1" : "0";
	}

	private record Request(String name, RedisScript script, List<Object> keys, Object... args) {

		@Override
		public String toString() {
			return this.name + List.of(this.args);
		}

	}

}
