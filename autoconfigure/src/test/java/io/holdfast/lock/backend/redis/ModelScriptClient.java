package io.holdfast.lock.backend.redis;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.test.simulation.SimulatedLink;
import io.holdfast.lock.test.simulation.SimulatedProcess;

/**
 * A client of a model of Redis.
 */
final class ModelScriptClient implements ScriptClient {

	private static final long TIMEOUT = TimeUnit.SECONDS.toNanos(1);

	private final SimulatedProcess process;

	private final SimulatedLink link;

	private final RedisModel model;

	private final Map<String, ModelScriptClient> listeners;

	private @Nullable Consumer<String> listener;

	private volatile boolean running;

	ModelScriptClient(SimulatedProcess process, SimulatedLink link, RedisModel model,
			Map<String, ModelScriptClient> listeners) {
		this.process = process;
		this.link = link;
		this.model = model;
		this.listeners = listeners;
	}

	/** Delivers messages in virtual time from now on. */
	void startRun() {
		this.running = true;
	}

	/** Sends a message to the listener and returns whether Redis knows of one. */
	boolean deliver(String message) {
		Consumer<String> present = this.listener;
		if (present == null || this.process.killed()) {
			return false;
		}
		this.link.push(() -> present.accept(message));
		return true;
	}

	@Override
	public CompletionStage<List<Object>> evalSha(RedisScript script, List<Object> keys, Object... args) {
		Supplier<List<Object>> request = () -> this.model.run(script.sha1(), keys, args);
		if (!this.running) {
			return CompletableFuture.completedStage(request.get());
		}
		CompletableFuture<List<Object>> answer = this.link.call(request);
		Runnable cancel = this.process.after(TIMEOUT,
				() -> answer.completeExceptionally(new TimeoutException("no answer")));
		answer.whenComplete((value, failure) -> cancel.run());
		return answer;
	}

	/**
	 * Sends requests that travel one by one, which allows more interleavings than a
	 * pipeline does.
	 */
	@Override
	public List<CompletionStage<List<Object>>> evalShaAll(RedisScript script, List<Call> calls) {
		return calls.stream().map((call) -> evalSha(script, call.keys(), call.args())).toList();
	}

	@Override
	public CompletionStage<List<Object>> eval(RedisScript script, List<Object> keys, Object... args) {
		throw new UnsupportedOperationException();
	}

	@Override
	public CompletionStage<Replicated> evalShaReplicated(RedisScript script, Call call, int replicas,
			Duration timeout) {
		throw new UnsupportedOperationException();
	}

	@Override
	public CompletionStage<Subscription> subscribe(String channel, Consumer<String> listener) {
		this.listener = listener;
		this.listeners.put(channel, this);
		return CompletableFuture.completedStage(() -> CompletableFuture.completedStage(null));
	}

	@Override
	public String channelOnServer(String channel) {
		return channel;
	}

	@Override
	public boolean isCounted() {
		return true;
	}

	@Override
	public boolean severalNodes() {
		return false;
	}

	@Override
	public boolean isOrdered() {
		return false;
	}

	@Override
	public boolean answersOn(Thread thread) {
		return false;
	}

	@Override
	public void close() {
	}

}
