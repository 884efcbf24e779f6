package io.holdfast.lock.fencing;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.support.Resources;

/**
 * The guard of data in Redis. A hash contains the greatest token of each lock.
 *
 * <p>
 * Redis has no blocking transactions, so another holder may pass between {@link #advance}
 * and a write. Use {@link #write} for data that must not be overwritten: it checks and
 * writes in one script. The hash is as durable as the Redis server that contains it, so
 * use the server that has the data. Thread-safe; blocks until Redis has answered.
 */
public final class RedisFencingGuard implements FencingGuard {

	private static final String SCRIPT = Resources.text(RedisFencingGuard.class, "advance.lua");

	private final RedissonClient redis;

	private final String key;

	private final Function<LockHandle, String> id;

	/**
	 * Creates a guard.
	 * @param redis the client of the Redis server that has the data
	 * @param key the key of the hash; in a cluster, in the same slot as the data
	 * @param id returns the identity of a lock's fence: different for every two locks and
	 * for every two stores of one lock
	 */
	public RedisFencingGuard(RedissonClient redis, String key, Function<LockHandle, String> id) {
		this.redis = redis;
		this.key = key;
		this.id = id;
	}

	@Override
	public void advance(LockHandle hold) {
		pass(hold, List.of(this.key), "");
	}

	/**
	 * Admits a holder and sets a value, in one step.
	 * @param hold the hold
	 * @param dataKey the key to set
	 * @param value the value to set
	 * @throws io.holdfast.lock.StaleFencingTokenException if a newer holder was admitted
	 * before; nothing was set
	 */
	public void write(LockHandle hold, String dataKey, String value) {
		pass(hold, List.of(this.key, dataKey), value);
	}

	private void pass(LockHandle hold, List<Object> keys, String value) {
		List<FenceEntry> entries = hold.parts()
			.stream()
			.map((part) -> FenceEntry.of(this.id.apply(part), part))
			.toList();
		List<Object> arguments = new ArrayList<>(List.of(value));
		entries.forEach((entry) -> arguments
			.addAll(List.of(entry.id(), Long.toString(entry.token()), entry.owner(), entry.shared() ? "1" : "0")));
		List<String> refusal = this.redis.getScript(StringCodec.INSTANCE)
			.eval(RScript.Mode.READ_WRITE, SCRIPT, RScript.ReturnType.LIST, keys, arguments.toArray());
		if (!refusal.isEmpty()) {
			int which = (int) Double.parseDouble(refusal.get(0)) - 1;
			throw entries.get(which).refused(Long.parseLong(refusal.get(1)));
		}
	}

}
