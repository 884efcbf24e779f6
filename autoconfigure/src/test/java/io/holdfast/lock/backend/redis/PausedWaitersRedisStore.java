package io.holdfast.lock.backend.redis;

import io.holdfast.lock.test.simulation.Simulation;
import io.holdfast.lock.test.simulation.Workload;

/**
 * A {@link RedisStore} whose waiters are paused, so that notifications reach them late.
 */
public final class PausedWaitersRedisStore extends RedisStore {

	/**
	 * Creates an empty Redis.
	 * @param simulation the simulation
	 */
	public PausedWaitersRedisStore(Simulation simulation) {
		super(simulation);
	}

	@Override
	public Workload workload() {
		return Workload.PAUSED_WAITERS;
	}

}
