package io.holdfast.lock.backend.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.test.simulation.SimulatedLink;
import io.holdfast.lock.test.simulation.SimulatedNode;
import io.holdfast.lock.test.simulation.SimulatedProcess;
import io.holdfast.lock.test.simulation.SimulatedStore;
import io.holdfast.lock.test.simulation.Simulation;

/**
 * The Redis backend on a model of one Redis server.
 */
public final class RedisStore implements SimulatedStore {

	private static final String NAMESPACE = "sim";

	private static final RedisLockOptions OPTIONS = new RedisLockOptions(NAMESPACE, Duration.ofSeconds(1), 0,
			Duration.ZERO, "the model");

	private final SimulatedNode server;

	private final RedisModel model;

	private final Map<String, ModelScriptClient> listeners = new HashMap<>();

	private final Map<SimulatedProcess, RedisLockBackend> backends = new LinkedHashMap<>();

	/**
	 * Creates an empty Redis.
	 * @param simulation the simulation
	 */
	public RedisStore(Simulation simulation) {
		this.server = simulation.server("redis");
		this.model = new RedisModel(() -> 1_000_000_000L + this.server.nanos() / 1_000, this::publish);
	}

	private int publish(String channel, String message) {
		ModelScriptClient listener = this.listeners.get(channel);
		return (listener != null && listener.deliver(message)) ? 1 : 0;
	}

	@Override
	public LockBackend connect(SimulatedProcess process) {
		SimulatedLink link = new SimulatedLink(process, this.server, SimulatedLink.Order.ANY);
		ModelScriptClient client = new ModelScriptClient(process, link, this.model, this.listeners);
		RedisLockBackend backend = new RedisLockBackend(client, OPTIONS, process, () -> {
		});
		// an application does this at startup, before the run
		backend.verify();
		client.startRun();
		this.backends.put(process, backend);
		return backend;
	}

	@Override
	public Collection<String> leftovers() {
		List<String> left = new ArrayList<>(this.model.leftovers());
		this.backends.forEach((process, backend) -> {
			if (!process.killed() && backend.waiting() > 0) {
				left.add("claims that wait in %s: %d".formatted(process, backend.waiting()));
			}
		});
		return left;
	}

	@Override
	public List<StoreFault> faults() {
		return List.of(new StoreFault("the server pauses", this.server::pause, this.server::resume));
	}

}
