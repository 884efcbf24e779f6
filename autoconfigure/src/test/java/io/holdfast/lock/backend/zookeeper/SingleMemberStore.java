package io.holdfast.lock.backend.zookeeper;

import java.util.List;

import io.holdfast.lock.test.simulation.Simulation;

/**
 * An ensemble in which each client knows only one member. A follower responds and then
 * pauses before the leader receives its report.
 */
public final class SingleMemberStore extends SimulatedZooKeeper {

	/**
	 * Creates an empty ensemble.
	 * @param simulation the simulation
	 */
	public SingleMemberStore(Simulation simulation) {
		super(simulation);
	}

	@Override
	Follower follower(int process, int attempt) {
		return super.follower(process, 0);
	}

	@Override
	public List<StoreFault> faults() {
		Follower first = follower(0, 0);
		return List.of(new StoreFault("follower0 pauses at the next ping", first::pauseAtPing, first::resume));
	}

}
