package io.holdfast.lock.test.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.engine.EngineSettings;

/**
 * Virtual clock and event queue of one run. Everything in a run happens in events on one
 * thread, ordered by virtual time. Events at the same time run in an order that depends
 * on the seed.
 */
public final class Simulation {

	/**
	 * The virtual time at the start, above zero so that slower clocks never show a
	 * negative time.
	 */
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
	 * Creates a run without any events.
	 * @param seed the seed of all random decisions
	 * @param history records the events
	 */
	public Simulation(long seed, History history) {
		this.random = new SplittableRandom(seed);
		this.history = history;
		history.startAt(START);
		this.network = new SimulatedNetwork(this);
		this.checks = new Checks(this);
	}

	/**
	 * Returns the virtual time, which no clock of a node shows exactly.
	 * @return the time in nanoseconds
	 */
	public long now() {
		return this.now;
	}

	/**
	 * Returns the source of all randomness of this run.
	 * @return the random number generator
	 */
	public SplittableRandom random() {
		return this.random;
	}

	/**
	 * Returns the record of this run.
	 * @return the history
	 */
	public History history() {
		return this.history;
	}

	/**
	 * Returns the network between the nodes.
	 * @return the network
	 */
	public SimulatedNetwork network() {
		return this.network;
	}

	/**
	 * Returns the checks of this run.
	 * @return the checks
	 */
	public Checks checks() {
		return this.checks;
	}

	/**
	 * Creates a server, which is a node without an engine. Its clock deviates from
	 * virtual time by up to 0.5 percent.
	 * @param name the name in the history
	 * @return the server
	 */
	public SimulatedNode server(String name) {
		return new SimulatedNode(this, name);
	}

	/**
	 * Creates a process without a plan, to compare a model with its real server.
	 * @param number the number that identifies the process
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

	/** Schedules an event that belongs to no node. */
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
	 * @return the result of the stage
	 * @throws IllegalStateException if the stage does not complete in time
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

	/**
	 * Runs all events up to the given time, and all checks after each event. Stops at a
	 * violation.
	 */
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

	/** An event at a point in virtual time. */
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
