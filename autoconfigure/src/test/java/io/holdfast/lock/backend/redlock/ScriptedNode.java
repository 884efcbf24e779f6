package io.holdfast.lock.backend.redlock;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

import io.holdfast.lock.backend.redis.RedisScript;

/**
 * A node that responds to attempts as the test says.
 */
final class ScriptedNode implements NodeClient {

	private final int number;

	CompletionStage<List<Object>> acquired = new CompletableFuture<>();

	Consumer<String> listener = (message) -> {
	};

	boolean subscribes = true;

	int attempts;

	int arguments;

	int releases;

	/** The response to a release. */
	List<Object> released = List.of(1L);

	/** Completes when the client is connected. */
	CompletionStage<?> connected = CompletableFuture.completedFuture(1);

	ScriptedNode(int number) {
		this.number = number;
	}

	@Override
	public CompletionStage<List<Object>> run(RedisScript script, List<Object> keys, Object... args) {
		if (script == RedlockScripts.PROBE) {
			return CompletableFuture.completedFuture(List.of("run-" + this.number, "", ""));
		}
		if (script == RedlockScripts.ACQUIRE) {
			this.attempts++;
			this.arguments = args.length;
			return this.acquired;
		}
		if (script == RedlockScripts.RELEASE) {
			this.releases++;
			return CompletableFuture.completedFuture(this.released);
		}
		return CompletableFuture.completedFuture(List.of(1L));
	}

	@Override
	public CompletionStage<List<Object>> connect(RedisScript script, List<Object> keys, Object... args) {
		return this.connected.thenCompose((nothing) -> run(script, keys, args));
	}

	@Override
	public CompletionStage<?> subscribe(String channel, Consumer<String> listener) {
		this.listener = listener;
		return this.subscribes ? CompletableFuture.completedFuture(1)
				: CompletableFuture.failedFuture(new IllegalStateException("no subscription"));
	}

	@Override
	public boolean isOrdered() {
		return false;
	}

	@Override
	public String address() {
		return "node-" + this.number;
	}

	@Override
	public void close() {
	}

}
