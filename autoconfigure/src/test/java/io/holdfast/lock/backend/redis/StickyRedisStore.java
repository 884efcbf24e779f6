package io.holdfast.lock.backend.redis;

import io.holdfast.lock.test.simulation.Simulation;
import io.holdfast.lock.test.simulation.Workload;

/**
 * A {@link RedisStore} whose leases stay in a process while no hold uses them.
 */
public final class StickyRedisStore extends RedisStore {

	/**
	 * Creates an empty Redis.
	 * @param simulation the simulation
	 */
	public StickyRedisStore(Simulation simulation) {
		super(simulation);
	}

	@Override
	public Workload workload() {
		return Workload.STICKY;
	}

}
