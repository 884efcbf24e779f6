package io.holdfast.lock.backend.redis;

import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.redisson.api.BatchResult;
import org.redisson.api.RBatch;
import org.redisson.api.RFuture;
import org.redisson.api.RScript;
import org.redisson.api.RTopic;
import org.redisson.api.RedissonClient;
import org.redisson.api.listener.MessageListener;
import org.redisson.client.RedisTimeoutException;
import org.redisson.config.Config;
import org.redisson.misc.CompletableFutureWrapper;

import io.holdfast.lock.test.simulation.SimulatedLink;
import io.holdfast.lock.test.simulation.SimulatedProcess;

/**
 * A Redisson client on a model of Redis, limited to the methods that the backend uses.
 */
final class ModelRedisson {

	private static final long TIMEOUT = TimeUnit.SECONDS.toNanos(1);

	private final SimulatedProcess process;

	private final SimulatedLink link;

	private final RedisModel model;

	private final Map<String, ModelRedisson> listeners;

	private final Config config = new Config();

	private @Nullable MessageListener<String> listener;

	private volatile boolean running;

	ModelRedisson(SimulatedProcess process, SimulatedLink link, RedisModel model,
			Map<String, ModelRedisson> listeners) {
		this.process = process;
		this.link = link;
		this.model = model;
		this.listeners = listeners;
		this.config.useSingleServer();
	}

	RedissonClient proxy() {
		return proxy(RedissonClient.class, (method, args) -> switch (method) {
			case "getConfig" -> this.config;
			case "getScript" -> script();
			case "createBatch" -> batch();
			case "getTopic" -> topic((String) args[0]);
			default -> throw new UnsupportedOperationException(method);
		});
	}

	/** Delivers messages in virtual time from now on. */
	void startRun() {
		this.running = true;
	}

	/** Sends a message to the listener and returns whether Redis knows of one. */
	boolean deliver(String message) {
		MessageListener<String> present = this.listener;
		if (present == null || this.process.killed()) {
			return false;
		}
		this.link.push(() -> present.onMessage("", message));
		return true;
	}

	private RScript script() {
		return proxy(RScript.class, (method, args) -> switch (method) {
			case "evalShaAsync" -> evaluate((String) args[1], (List<?>) args[3], (Object[]) args[4]);
			default -> throw new UnsupportedOperationException(method);
		});
	}

	/**
	 * Returns a batch whose requests travel one by one, which allows more interleavings
	 * than a pipeline does.
	 */
	private RBatch batch() {
		return proxy(RBatch.class, (method, args) -> switch (method) {
			case "getScript" -> script();
			case "executeAsync" -> new CompletableFutureWrapper<>(new CompletableFuture<BatchResult<?>>());
			default -> throw new UnsupportedOperationException(method);
		});
	}

	private RTopic topic(String name) {
		return proxy(RTopic.class, (method, args) -> switch (method) {
			case "getChannelNames" -> List.of(name);
			case "addListenerAsync" -> listen(name, (MessageListener<?>) args[1]);
			default -> throw new UnsupportedOperationException(method);
		});
	}

	@SuppressWarnings("unchecked")
	private RFuture<Integer> listen(String channel, MessageListener<?> listener) {
		this.listener = (MessageListener<String>) listener;
		this.listeners.put(channel, this);
		return new CompletableFutureWrapper<>(1);
	}

	private RFuture<List<Object>> evaluate(String sha1, List<?> keys, Object[] args) {
		Supplier<List<Object>> request = () -> this.model.run(sha1, keys, args);
		if (!this.running) {
			return new CompletableFutureWrapper<>(request.get());
		}
		CompletableFuture<List<Object>> answer = this.link.call(request);
		Runnable cancel = this.process.after(TIMEOUT,
				() -> answer.completeExceptionally(new RedisTimeoutException("no answer")));
		answer.whenComplete((value, failure) -> cancel.run());
		return new CompletableFutureWrapper<>(answer);
	}

	private static <T> T proxy(Class<T> type, Behaviour behaviour) {
		return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type },
				(self, method, args) -> behaviour.call(method.getName(), args)));
	}

	/** The behavior of an interface's methods. */
	private interface Behaviour {

		Object call(String method, Object[] args);

	}

}
