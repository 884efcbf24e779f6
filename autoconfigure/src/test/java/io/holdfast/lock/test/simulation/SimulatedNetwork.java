package io.holdfast.lock.test.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Decides how long each message travels, and whether it arrives. Without trouble, all
 * messages arrive within a few milliseconds.
 */
public final class SimulatedNetwork {

	private static final int LEAST_DELAY = 50_000;

	private static final int USUAL_SPREAD = 400_000;

	private static final int RARE_SPREAD = 5_000_000;

	private static final int RARELY = 50;

	/** A client may wait so long for an answer that does not come. */
	private static final long LONGEST_TIMEOUT = 3_000_000_000L;

	private final Simulation simulation;

	private final List<Trouble> troubles = new ArrayList<>();

	SimulatedNetwork(Simulation simulation) {
		this.simulation = simulation;
	}

	/**
	 * Starts some trouble.
	 * @param trouble the trouble
	 */
	public void begin(Trouble trouble) {
		this.troubles.add(trouble);
	}

	/**
	 * Ends some trouble. Messages that are delayed already stay so.
	 * @param trouble the trouble
	 */
	public void end(Trouble trouble) {
		this.troubles.remove(trouble);
	}

	/** Decides on one message. */
	Fate fate(SimulatedNode from, SimulatedNode to, boolean repeatable) {
		SplittableRandom random = this.simulation.random();
		long delay = LEAST_DELAY + random.nextInt((random.nextInt(RARELY) == 0) ? RARE_SPREAD : USUAL_SPREAD);
		Fate fate = new Fate(false, delay, -1);
		for (Trouble trouble : this.troubles) {
			if (trouble.affects(from, to) && random.nextDouble() < trouble.share()) {
				long most = Math.max(1, trouble.most());
				fate = switch (trouble.kind()) {
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
	 * What becomes of one message.
	 *
	 * @param lost whether it never arrives
	 * @param delay when it arrives
	 * @param repeatAfter when it arrives a second time, counted from the first; negative
	 * if it does not
	 */
	record Fate(boolean lost, long delay, long repeatAfter) {
	}

	/**
	 * Trouble with the messages of one node.
	 *
	 * @param kind what happens to them
	 * @param node whose messages are concerned
	 * @param share how many of them, between 0 and 1
	 * @param most the longest delay in nanoseconds
	 */
	public record Trouble(Kind kind, SimulatedNode node, double share, long most) {

		boolean affects(SimulatedNode from, SimulatedNode to) {
			return switch (this.kind) {
				case LOSS, DELAY, REPETITION -> this.node == from || this.node == to;
				case OUTGOING_LOSS -> this.node == from;
				case INCOMING_LOSS -> this.node == to;
			};
		}

	}

	/**
	 * What happens to messages.
	 */
	public enum Kind {

		/** They are lost. */
		LOSS,

		/** Those that the node sends are lost. */
		OUTGOING_LOSS,

		/** Those that are sent to the node are lost. */
		INCOMING_LOSS,

		/** They arrive late. */
		DELAY,

		/** Requests arrive twice, where the client repeats them. */
		REPETITION

	}

}
