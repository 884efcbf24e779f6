package io.holdfast.lock.backend.redlock;

import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

import io.holdfast.lock.backend.redis.RedisNode;
import io.holdfast.lock.backend.redis.RedisScript;
import io.holdfast.lock.support.Stages;

/**
 * Client of one node.
 */
interface NodeClient {

	/**
	 * Runs a script.
	 * @return the script's result; never throws
	 */
	CompletionStage<List<Object>> run(RedisScript script, List<Object> keys, Object... args);

	/** Runs a script on a client that may not be connected yet. Never blocks. */
	CompletionStage<List<Object>> connect(RedisScript script, List<Object> keys, Object... args);

	/**
	 * Subscribes to a channel.
	 * @return completes when this client is subscribed; never throws
	 */
	CompletionStage<?> subscribe(String channel, Consumer<String> listener);

	/**
	 * Whether scripts reach the node in the order in which they are sent, unless a
	 * connection breaks.
	 */
	boolean isOrdered();

	/** Returns the node's address for messages, without credentials. */
	String address();

	void close();

	/**
	 * Client of a Redis server. A client that is not connected yet may connect on the
	 * first calling thread and block every other caller. {@code connect} therefore uses a
	 * dedicated thread.
	 *
	 * @param redis the server
	 */
	record OfRedis(RedisNode redis) implements NodeClient {

		@Override
		public CompletionStage<List<Object>> run(RedisScript script, List<Object> keys, Object... args) {
			return this.redis.run(script, keys, args);
		}

		@Override
		public CompletionStage<List<Object>> connect(RedisScript script, List<Object> keys, Object... args) {
			return Stages.attemptOn("holdfast-redlock-connect", () -> this.redis.run(script, keys, args));
		}

		@Override
		public CompletionStage<?> subscribe(String channel, Consumer<String> listener) {
			return this.redis.subscribe(channel, listener);
		}

		@Override
		public boolean isOrdered() {
			return this.redis.isOrdered();
		}

		@Override
		public String address() {
			return this.redis.address();
		}

		@Override
		public void close() {
			this.redis.close();
		}

	}

}
