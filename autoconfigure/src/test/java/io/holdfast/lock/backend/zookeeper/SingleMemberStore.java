package io.holdfast.lock.backend.zookeeper;

import java.util.List;

import io.holdfast.lock.test.simulation.Simulation;
import io.holdfast.lock.test.simulation.Workload;

/**
 * An ensemble of whose members each client knows one only. A follower answers and then
 * stands still, before the leader hears from it.
 */
public final class SingleMemberStore extends SimulatedZooKeeper {

	/**
	 * Creates an ensemble that keeps nothing.
	 * @param simulation the run
	 */
	public SingleMemberStore(Simulation simulation) {
		super(simulation);
	}

	@Override
	Follower follower(int process, int attempt) {
		return super.follower(process, 0);
	}

	@Override
	public Workload workload() {
		return Workload.LONG_HOLDS;
	}

	@Override
	public List<StoreFault> faults() {
		Follower first = follower(0, 0);
		return List.of(new StoreFault("follower0 stands still at the next ping", first::pauseAtPing, first::resume));
	}

}
