package io.holdfast.lock.test.simulation;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;

import io.holdfast.lock.support.SchedulingClock;

/**
 * A process or a server: it has a clock of its own, runs tasks and timers, and can be
 * paused and killed. While it is paused nothing of it runs; what was due meanwhile runs
 * after the pause, timers in their order, and all else in an order that the seed decides.
 */
public class SimulatedNode implements SchedulingClock {

	/** Two clocks differ by up to one percent, which is what the engine allows for. */
	private static final double MOST_DRIFT = 0.005;

	private static final int MOST_TIMER_DELAY = 100_000;

	private static final int MOST_TASK_DELAY = 20_000;

	private static final int RESUME_SPREAD = 500_000;

	private final Simulation simulation;

	private final String name;

	private final double speed;

	private final long offset;

	private final TreeSet<Timer> timers = new TreeSet<>(
			Comparator.comparingLong(Timer::due).thenComparingLong(Timer::number));

	private final List<Runnable> parked = new ArrayList<>();

	private long numbers;

	private boolean paused;

	private boolean killed;

	private long disturbedUntil;

	private long pausedAt;

	private long pausedFor;

	SimulatedNode(Simulation simulation, String name) {
		this.simulation = simulation;
		this.name = name;
		this.speed = 1 - MOST_DRIFT + simulation.random().nextDouble() * 2 * MOST_DRIFT;
		this.offset = simulation.random().nextInt(1_000_000);
		simulation.add(this);
	}

	/**
	 * The run that this node is part of.
	 * @return the run
	 */
	public Simulation simulation() {
		return this.simulation;
	}

	/**
	 * The name in the history.
	 * @return the name
	 */
	public String name() {
		return this.name;
	}

	@Override
	public long nanos() {
		return (long) (this.simulation.now() * this.speed) + this.offset;
	}

	@Override
	public Runnable after(long delayNanos, Runnable task) {
		long delay = Math.max(0, delayNanos);
		Timer timer = new Timer(nanos() + delay, this.numbers++, task);
		this.timers.add(timer);
		long at = this.simulation.now() + global(delay) + this.simulation.random().nextInt(MOST_TIMER_DELAY);
		this.simulation.at(at, this, this::runNextTimer);
		return () -> this.timers.remove(timer);
	}

	/** There is an event for every timer, but the earliest timer always runs first. */
	private void runNextTimer() {
		if (!this.timers.isEmpty() && this.timers.first().due() <= nanos()) {
			this.timers.pollFirst().task().run();
		}
	}

	@Override
	public long jitter(long boundNanos) {
		return this.simulation.random().nextLong(boundNanos);
	}

	/** Virtual time for a duration on this node's clock. */
	long global(long local) {
		return (long) Math.ceil(local / this.speed) + 1;
	}

	/**
	 * Runs a task on this node as soon as possible, as another thread would.
	 * @param task the task
	 */
	public void execute(Runnable task) {
		this.simulation.at(this.simulation.now() + this.simulation.random().nextInt(MOST_TASK_DELAY), this, task);
	}

	/** Runs a task now, or after the pause, or never if this node is dead. */
	void run(Runnable task) {
		if (this.paused) {
			this.parked.add(task);
		}
		else if (!this.killed) {
			try {
				task.run();
			}
			catch (RuntimeException | Error ex) {
				this.simulation.checks().fail(this, "task", "", "a task failed with " + ex, ex);
			}
		}
	}

	/**
	 * Lets nothing run here until {@link #resume()}.
	 */
	public void pause() {
		if (!this.paused && !this.killed) {
			this.paused = true;
			this.pausedAt = this.simulation.now();
			record("pauses");
		}
	}

	/**
	 * Lets nothing run here for a while.
	 * @param nanos how long
	 */
	public void pauseFor(long nanos) {
		pause();
		this.simulation.at(this.simulation.now() + nanos, this::resume);
	}

	/**
	 * Ends the pause.
	 */
	public void resume() {
		if (!this.paused) {
			return;
		}
		record("resumes");
		this.paused = false;
		this.pausedFor += this.simulation.now() - this.pausedAt;
		disturbedUntil(this.simulation.now());
		for (Runnable task : this.parked) {
			long at = this.simulation.now() + this.simulation.random().nextInt(RESUME_SPREAD);
			this.simulation.at(at, this, task);
		}
		this.parked.clear();
	}

	/**
	 * Ends this node for good.
	 */
	public void kill() {
		record("is killed");
		this.killed = true;
		this.paused = false;
		this.timers.clear();
		this.parked.clear();
	}

	/**
	 * Whether this node stands still.
	 * @return whether it does
	 */
	public boolean paused() {
		return this.paused;
	}

	/**
	 * Whether this node was killed.
	 * @return whether it was
	 */
	public boolean killed() {
		return this.killed;
	}

	/** How much of the virtual time was not spent in pauses. */
	long runningTime() {
		long present = this.paused ? this.simulation.now() - this.pausedAt : 0;
		return this.simulation.now() - this.pausedFor - present;
	}

	/**
	 * Records that a fault impairs this node until a time, so that nobody expects it to
	 * behave as if it were healthy.
	 * @param time the virtual time
	 */
	public void disturbedUntil(long time) {
		this.disturbedUntil = Math.max(this.disturbedUntil, time);
	}

	/** Whether no fault has impaired this node since a time. */
	boolean calmSince(long time) {
		return !this.paused && !this.killed && this.disturbedUntil < time;
	}

	/** How many timers have not run yet. */
	int pendingTimers() {
		return this.timers.size();
	}

	/**
	 * Records what happens on this node to all locks.
	 * @param what what happens
	 */
	public void record(String what) {
		this.simulation.history().add(this.simulation, this.name, "", () -> what);
	}

	@Override
	public String toString() {
		return this.name;
	}

	private record Timer(long due, long number, Runnable task) {
	}

}
