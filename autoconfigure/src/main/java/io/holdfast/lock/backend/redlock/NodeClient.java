package io.holdfast.lock.backend.redlock;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.holdfast.lock.backend.redis.RedisNode;
import io.holdfast.lock.backend.redis.RedisScript;

/**
 * The client of one node.
 */
interface NodeClient {

	/**
	 * Runs a script.
	 * @return what the script gave; never throws
	 */
	CompletionStage<List<Object>> run(RedisScript script, List<Object> keys, Object... args);

	/** Runs a script while the client may not have connected yet. Never blocks. */
	CompletionStage<List<Object>> connect(RedisScript script, List<Object> keys, Object... args);

	/** The node as messages name it, without credentials. */
	String address();

	void close();

	/**
	 * Redisson's client. One that has not connected yet does so on whichever thread asks
	 * first and makes all others wait, so that happens on a thread of its own.
	 *
	 * @param redis the client
	 */
	record OfRedisson(RedisNode redis) implements NodeClient {

		@Override
		public CompletionStage<List<Object>> run(RedisScript script, List<Object> keys, Object... args) {
			return this.redis.run(script, keys, args);
		}

		@Override
		public CompletionStage<List<Object>> connect(RedisScript script, List<Object> keys, Object... args) {
			CompletableFuture<List<Object>> result = new CompletableFuture<>();
			Thread thread = new Thread(() -> this.redis.run(script, keys, args).whenComplete((answer, failure) -> {
				if (failure != null) {
					result.completeExceptionally(failure);
				}
				else {
					result.complete(answer);
				}
			}), "holdfast-redlock-connect");
			thread.setDaemon(true);
			thread.start();
			return result;
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
