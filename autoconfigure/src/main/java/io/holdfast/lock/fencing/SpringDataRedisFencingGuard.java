package io.holdfast.lock.fencing;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.ReturnType;

import io.holdfast.lock.LockHandle;

/**
 * The guard of data in Redis, for applications with Spring Data Redis and any client of
 * it, such as Lettuce. A hash contains the greatest token of each lock, in the same
 * format as that of {@link RedisFencingGuard}, so one hash may be used by both.
 *
 * <p>
 * Redis has no blocking transactions, so another holder may pass between {@link #advance}
 * and a write. Use {@link #write} for data that must not be overwritten: it checks and
 * writes in one script. The script runs immediately, even if the thread is in a
 * transaction or pipeline of a {@code RedisTemplate}. The hash is as durable as the Redis
 * server that contains it, so use the server that has the data. Thread-safe; blocks until
 * Redis has answered.
 */
public final class SpringDataRedisFencingGuard implements FencingGuard {

	private final RedisFence fence;

	/**
	 * Creates a guard.
	 * @param redis connects to the Redis server that has the data
	 * @param key the key of the hash; in a cluster, in the same slot as the data
	 * @param id returns the identity of a lock's fence: different for every two locks and
	 * for every two stores of one lock
	 */
	public SpringDataRedisFencingGuard(RedisConnectionFactory redis, String key, Function<LockHandle, String> id) {
		this.fence = new RedisFence(new SpringScripts(redis), key, id);
	}

	/**
	 * {@inheritDoc}
	 * @throws io.holdfast.lock.LockBackendException if Redis rejected the request or did
	 * not answer
	 */
	@Override
	public void advance(LockHandle hold) {
		this.fence.advance(hold);
	}

	/**
	 * Admits a holder and sets a value, in one step.
	 * @param hold the hold
	 * @param dataKey the key to set
	 * @param value the value to set, which is stored in UTF-8
	 * @throws io.holdfast.lock.StaleFencingTokenException if a newer holder was admitted
	 * before; nothing was set
	 * @throws io.holdfast.lock.LockBackendException if Redis rejected the request, or did
	 * not answer and may have set the value
	 */
	public void write(LockHandle hold, String dataKey, String value) {
		this.fence.write(hold, dataKey, value);
	}

	/**
	 * Uses a connection of its own, because one of a {@code RedisTemplate} could only
	 * queue the script.
	 */
	private record SpringScripts(RedisConnectionFactory redis) implements RedisFence.Scripts {

		@Override
		public List<String> evalSha(String sha1, List<String> keys, List<String> arguments) {
			return run((connection) -> connection.scriptingCommands()
				.evalSha(sha1, ReturnType.MULTI, keys.size(), bytes(keys, arguments)));
		}

		@Override
		public List<String> eval(String text, List<String> keys, List<String> arguments) {
			return run((connection) -> connection.scriptingCommands()
				.eval(text.getBytes(StandardCharsets.UTF_8), ReturnType.MULTI, keys.size(), bytes(keys, arguments)));
		}

		private List<String> run(Function<RedisConnection, List<byte[]>> script) {
			try (RedisConnection connection = this.redis.getConnection()) {
				return script.apply(connection)
					.stream()
					.map((element) -> new String(element, StandardCharsets.UTF_8))
					.toList();
			}
		}

		private static byte[][] bytes(List<String> keys, List<String> arguments) {
			return Stream.concat(keys.stream(), arguments.stream())
				.map((text) -> text.getBytes(StandardCharsets.UTF_8))
				.toArray(byte[][]::new);
		}

	}

}
