package io.holdfast.lock.test.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.engine.EngineSettings;

/**
 * The virtual clock and the event queue of one run. Everything in a run happens in events
 * on one thread, ordered by virtual time; events at the same time run in an order that
 * the seed decides.
 */
public final class Simulation {

	/** Starts above zero, so that clocks that run slower never show a negative time. */
	private static final long START = 1_000_000_000L;

	private static final long LONGEST_AWAIT = 60_000_000_000L;

	private final PriorityQueue<Event> events = new PriorityQueue<>();

	private final SplittableRandom random;

	private final History history;

	private final SimulatedNetwork network;

	private final Checks checks;

	private final List<SimulatedNode> nodes = new ArrayList<>();

	private long now = START;

	private long numbers;

	private long steps;

	/**
	 * Creates a run in which nothing has happened yet.
	 * @param seed decides everything that is left open
	 * @param history records what happens
	 */
	public Simulation(long seed, History history) {
		this.random = new SplittableRandom(seed);
		this.history = history;
		history.startAt(START);
		this.network = new SimulatedNetwork(this);
		this.checks = new Checks(this);
	}

	/**
	 * The virtual time, which no clock of a node shows exactly.
	 * @return nanoseconds
	 */
	public long now() {
		return this.now;
	}

	/**
	 * The source of all randomness of this run.
	 * @return the random numbers
	 */
	public SplittableRandom random() {
		return this.random;
	}

	/**
	 * The record of this run.
	 * @return the history
	 */
	public History history() {
		return this.history;
	}

	/**
	 * The network between the nodes.
	 * @return the network
	 */
	public SimulatedNetwork network() {
		return this.network;
	}

	/**
	 * The checks of this run.
	 * @return the checks
	 */
	public Checks checks() {
		return this.checks;
	}

	/**
	 * Creates a server: a node that runs no engine. Its clock differs from those of other
	 * nodes by up to half a percent.
	 * @param name the name in the history
	 * @return the server
	 */
	public SimulatedNode server(String name) {
		return new SimulatedNode(this, name);
	}

	/**
	 * Creates a process that follows no plan, to compare a model with its server.
	 * @param number distinguishes it from other processes
	 * @param store the model
	 * @return the process
	 */
	public SimulatedProcess process(int number, SimulatedStore store) {
		return new SimulatedProcess(this, number, store, EngineSettings.DEFAULTS);
	}

	void add(SimulatedNode node) {
		this.nodes.add(node);
	}

	List<SimulatedNode> nodes() {
		return this.nodes;
	}

	/** Schedules an event outside of every node. */
	Event at(long time, Runnable task) {
		return at(time, null, task);
	}

	Event at(long time, @Nullable SimulatedNode node, Runnable task) {
		Event event = new Event(Math.max(time, this.now), this.random.nextInt(), this.numbers++, node, task);
		this.events.add(event);
		return event;
	}

	long steps() {
		return this.steps;
	}

	/**
	 * Runs events until a stage has completed.
	 * @param <T> the type of the result
	 * @param stage the stage
	 * @return its result
	 * @throws IllegalStateException if it does not complete in time
	 */
	public <T extends @Nullable Object> T await(CompletableFuture<T> stage) {
		long limit = this.now + LONGEST_AWAIT;
		while (!stage.isDone()) {
			if (this.events.isEmpty() || this.now > limit || this.checks.violation() != null) {
				throw new IllegalStateException("The stage does not complete");
			}
			runUntil(this.events.element().time());
		}
		return stage.join();
	}

	/** Runs all events up to a time, and checks after each. Stops at a violation. */
	void runUntil(long time) {
		Event next;
		while (this.checks.violation() == null && (next = this.events.peek()) != null && next.time() <= time) {
			this.events.remove();
			this.now = next.time();
			this.steps++;
			next.run();
			this.checks.afterStep();
		}
		this.now = Math.max(this.now, time);
	}

	/** Something that happens at a time. */
	record Event(long time, int tie, long number, @Nullable SimulatedNode node,
			Runnable task) implements Comparable<Event> {

		void run() {
			if (this.node != null) {
				this.node.run(this.task);
			}
			else {
				this.task.run();
			}
		}

		@Override
		public int compareTo(Event other) {
			int order = Long.compare(this.time, other.time);
			if (order == 0) {
				order = Integer.compare(this.tie, other.tie);
			}
			return (order != 0) ? order : Long.compare(this.number, other.number);
		}

	}

}
