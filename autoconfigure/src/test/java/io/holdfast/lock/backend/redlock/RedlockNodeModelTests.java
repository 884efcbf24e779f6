package io.holdfast.lock.backend.redlock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import org.assertj.core.api.ThrowingConsumer;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.config.Config;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.backend.redis.RedisNode;
import io.holdfast.lock.backend.redis.RedisScript;
import io.holdfast.lock.backend.redis.RedissonScriptClient;
import io.holdfast.lock.test.server.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares the model of a node with a real one. The same requests in the same order have
 * the same results, except for times, which only have to be close.
 */
class RedlockNodeModelTests {

	private static final int SEQUENCES = 60;

	private static final int LENGTH = 50;

	/** Exceeds any time, so that tokens do not depend on the clock. */
	private static final long FLOOR = 4_000_000_000_000_000L;

	private static final long NEAR = Duration.ofSeconds(20).toMillis();

	/** The time on the clock of the node, which the model does not have. */
	private static final int REJECTED_AT = 5;

	private static final String CHANNELS = "model:wake:";

	/** The instance that receives notifications. */
	private static final String SUBSCRIBED = "subscribed";

	private final RedlockKeys keys = new RedlockKeys("model");

	@Test
	void modelAnswersAsRedisDoes() throws Exception {
		try (RedisServer server = RedisServer.started()) {
			Config config = new Config();
			config.useSingleServer().setAddress(server.address());
			Duration timeout = Duration.ofSeconds(10);
			RedisNode redis = new RedisNode(new RedissonScriptClient(Redisson.create(config), true, timeout), "model",
					timeout, "the test's");
			redis.subscribe(CHANNELS + SUBSCRIBED, (owner) -> {
			}).toCompletableFuture().get(10, TimeUnit.SECONDS);
			try {
				for (int seed = 0; seed < SEQUENCES; seed++) {
					compare(seed, server, redis);
				}
			}
			finally {
				redis.close();
			}
		}
	}

	private void compare(int seed, RedisServer server, RedisNode redis) throws Exception {
		server.ask("flushall");
		server.ask("eval",
				"local m = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)') .. '/x' redis.call('HSET', KEYS[1], 'memory', m, 'admitted', m, 'floor', '"
						+ FLOOR + "')",
				"1", this.keys.node());
		String runId = server.ask("eval", "return string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')", "0");
		RedlockNodeModel model = new RedlockNodeModel(runId, () -> TimeUnit.NANOSECONDS.toMicros(System.nanoTime()),
				(channel, owner) -> channel.equals(CHANNELS + SUBSCRIBED));
		model.admit(FLOOR);
		Random random = new Random(seed);
		List<String> history = new ArrayList<>();
		for (int i = 0; i < LENGTH; i++) {
			Request request = request(random);
			history.add(request.toString());
			List<Object> real = redis.run(request.script(), request.keys(), request.args())
				.toCompletableFuture()
				.get(10, TimeUnit.SECONDS);
			List<Object> modelled = model.run(request.script(), request.keys(), request.args());
			assertThat(modelled).as("answer to the last of %s (seed %d)", history, seed).hasSameSizeAs(real);
			for (int k = 0; k < real.size(); k++) {
				boolean rejected = request.script() == RedlockScripts.ACQUIRE && real.get(0).equals(0L);
				if (rejected && k == REJECTED_AT) {
					continue;
				}
				boolean time = rejected && k == 1;
				assertThat(modelled.get(k)).as("item %d of the answer to the last of %s (seed %d)", k, history, seed)
					.satisfies(time ? isNear((Long) real.get(k)) : isEqual(real.get(k)));
			}
		}
	}

	/** Readers are named in the order in which they end, which is not modelled. */
	private static ThrowingConsumer<Object> isEqual(Object real) {
		return (modelled) -> assertThat(words(modelled)).isEqualTo(words(real));
	}

	private static Object words(Object item) {
		return item.toString().startsWith(NodeResponse.READERS) ? Set.of(item.toString().split(" ")) : item;
	}

	private static ThrowingConsumer<Object> isNear(long real) {
		return (modelled) -> assertThat((Long) modelled).isBetween(real - NEAR, real + NEAR);
	}

	private Request request(Random random) {
		LockName lock = LockName.of("lock", "of the test");
		int number = random.nextInt(4);
		String owner = "owner-" + number;
		long waited = Duration.ofMinutes(number).toMillis();
		String instance = random.nextInt(4) == 0 ? "gone" : SUBSCRIBED;
		String mode = LockMode.values()[random.nextInt(2)].name();
		long attempt = random.nextInt(6);
		long lease = 60_000 + 1_000L * random.nextInt(5);
		long positionMillis = random.nextBoolean() ? 0 : 60_000;
		return switch (random.nextInt(8)) {
			case 0, 1, 2, 3 -> {
				List<Object> args = new ArrayList<>(
						List.of("r", "1", owner, lease, attempt, RedlockTimes.IDLE_TOKEN_MILLIS, mode, positionMillis,
								waited, instance, random.nextInt(2) * lease));
				if (random.nextBoolean()) {
					args.add(CHANNELS + instance);
				}
				yield new Request("acquire", RedlockScripts.ACQUIRE, this.keys.of(lock), args.toArray());
			}
			case 4 -> new Request("agree", RedlockScripts.AGREE, this.keys.of(lock), "r", "1", owner,
					FLOOR + random.nextInt(30), RedlockTimes.IDLE_TOKEN_MILLIS);
			case 5 -> new Request("renew", RedlockScripts.RENEW,
					List.of(this.keys.node(), this.keys.part(lock, LockMode.valueOf(mode))), "r", "1", owner, lease,
					mode);
			case 6 -> new Request("look", RedlockScripts.LOOK, List.of(this.keys.node()), "r");
			default -> new Request("release", RedlockScripts.RELEASE, this.keys.of(lock), "r", "1", owner,
					random.nextBoolean() ? -1 : attempt, mode, positionMillis, waited, instance, CHANNELS,
					random.nextInt(4) == 0 ? 0 : 60_000, RedlockTimes.IDLE_TOKEN_MILLIS);
		};
	}

	private record Request(String name, RedisScript script, List<Object> keys, Object... args) {

		@Override
		public String toString() {
			return this.name + List.of(this.args);
		}

	}

}
