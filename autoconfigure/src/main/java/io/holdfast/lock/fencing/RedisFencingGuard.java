package io.holdfast.lock.fencing;

import java.util.List;
import java.util.function.Function;

import org.redisson.api.RScript;
import org.redisson.api.RScript.Mode;
import org.redisson.api.RScript.ReturnType;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

import io.holdfast.lock.LockHandle;

/**
 * The guard of data in Redis, for applications with Redisson. A hash contains the
 * greatest token of each lock. See {@link SpringDataRedisFencingGuard} for applications
 * with Lettuce.
 *
 * <p>
 * Redis has no blocking transactions, so another holder may pass between {@link #advance}
 * and a write. Use {@link #write} for data that must not be overwritten: it checks and
 * writes in one script. The hash is as durable as the Redis server that contains it, so
 * use the server that has the data. Thread-safe; blocks until Redis has answered.
 */
public final class RedisFencingGuard implements FencingGuard {

	private final RedisFence fence;

	/**
	 * Creates a guard.
	 * @param redis the client of the Redis server that has the data
	 * @param key the key of the hash; in a cluster, in the same slot as the data
	 * @param id returns the identity of a lock's fence: different for every two locks and
	 * for every two stores of one lock
	 */
	public RedisFencingGuard(RedissonClient redis, String key, Function<LockHandle, String> id) {
		this.fence = new RedisFence(new RedissonScripts(redis.getScript(StringCodec.INSTANCE)), key, id);
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
	 * @param value the value to set
	 * @throws io.holdfast.lock.StaleFencingTokenException if a newer holder was admitted
	 * before; nothing was set
	 * @throws io.holdfast.lock.LockBackendException if Redis rejected the request, or did
	 * not answer and may have set the value
	 */
	public void write(LockHandle hold, String dataKey, String value) {
		this.fence.write(hold, dataKey, value);
	}

	private record RedissonScripts(RScript scripts) implements RedisFence.Scripts {

		@Override
		public List<String> evalSha(String sha1, List<String> keys, List<String> arguments) {
			return this.scripts.evalSha(Mode.READ_WRITE, sha1, ReturnType.LIST, List.copyOf(keys), arguments.toArray());
		}

		@Override
		public List<String> eval(String text, List<String> keys, List<String> arguments) {
			return this.scripts.eval(Mode.READ_WRITE, text, ReturnType.LIST, List.copyOf(keys), arguments.toArray());
		}

	}

}
