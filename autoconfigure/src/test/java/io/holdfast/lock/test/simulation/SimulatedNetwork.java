package io.holdfast.lock.test.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Decides whether and when each message arrives. Without {@link NetworkFault}, all
 * messages arrive within a few milliseconds.
 */
public final class SimulatedNetwork {

	private static final int LEAST_DELAY = 50_000;

	private static final int USUAL_SPREAD = 400_000;

	private static final int RARE_SPREAD = 5_000_000;

	private static final int RARELY = 50;

	/** The longest time for which a client may wait for a lost response. */
	private static final long LONGEST_TIMEOUT = 3_000_000_000L;

	private final Simulation simulation;

	private final List<NetworkFault> faults = new ArrayList<>();

	SimulatedNetwork(Simulation simulation) {
		this.simulation = simulation;
	}

	/**
	 * Starts a network fault.
	 * @param fault the fault
	 */
	public void begin(NetworkFault fault) {
		this.faults.add(fault);
	}

	/**
	 * Ends a network fault. Messages that are already delayed stay delayed.
	 * @param fault the fault
	 */
	public void end(NetworkFault fault) {
		this.faults.remove(fault);
	}

	/** Determines the fate of one message. */
	Fate fate(SimulatedNode from, SimulatedNode to, boolean repeatable) {
		SplittableRandom random = this.simulation.random();
		long delay = LEAST_DELAY + random.nextInt((random.nextInt(RARELY) == 0) ? RARE_SPREAD : USUAL_SPREAD);
		Fate fate = new Fate(false, delay, -1);
		for (NetworkFault fault : this.faults) {
			if (fault.affects(from, to) && random.nextDouble() < fault.share()) {
				long most = Math.max(1, fault.most());
				fate = switch (fault.kind()) {
					case LOSS, OUTGOING_LOSS, INCOMING_LOSS -> new Fate(true, fate.delay(), -1);
					case DELAY -> new Fate(fate.lost(), fate.delay() + random.nextLong(most), fate.repeatAfter());
					case REPETITION -> repeatable ? new Fate(fate.lost(), fate.delay(), random.nextLong(most)) : fate;
				};
				long until = this.simulation.now() + fate.delay()
						+ (fate.lost() ? LONGEST_TIMEOUT : Math.max(0, fate.repeatAfter()));
				from.disturbedUntil(until);
				to.disturbedUntil(until);
			}
		}
		return fate;
	}

	/**
	 * The fate of one message.
	 *
	 * @param lost whether the message is lost
	 * @param delay the delay of the message in nanoseconds
	 * @param repeatAfter the time between the first and the second arrival in
	 * nanoseconds; negative if there is no second arrival
	 */
	record Fate(boolean lost, long delay, long repeatAfter) {
	}

	/**
	 * A fault that affects the messages of one node.
	 *
	 * @param kind the kind of fault
	 * @param node the node whose messages are affected
	 * @param share the share of affected messages, between 0 and 1
	 * @param most the longest delay in nanoseconds
	 */
	public record NetworkFault(Kind kind, SimulatedNode node, double share, long most) {

		boolean affects(SimulatedNode from, SimulatedNode to) {
			return switch (this.kind) {
				case LOSS, DELAY, REPETITION -> this.node == from || this.node == to;
				case OUTGOING_LOSS -> this.node == from;
				case INCOMING_LOSS -> this.node == to;
			};
		}

	}

	/**
	 * The kinds of network faults.
	 */
	public enum Kind {

		/** Messages from and to the node are lost. */
		LOSS,

		/** Messages from the node are lost. */
		OUTGOING_LOSS,

		/** Messages to the node are lost. */
		INCOMING_LOSS,

		/** Messages from and to the node are delayed. */
		DELAY,

		/** Requests arrive twice if the client repeats requests. */
		REPETITION

	}

}
