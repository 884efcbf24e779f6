package io.holdfast.lock.test.simulation;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;

import io.holdfast.lock.support.SchedulingClock;

/**
 * A process or a server with its own clock, tasks, and timers. It can be paused and
 * killed. While it is paused, nothing runs. After the pause, overdue timers run in order,
 * and other overdue tasks run in an order that depends on the seed.
 */
public class SimulatedNode implements SchedulingClock {

	/** Two clocks differ by up to one percent, which the engine allows for. */
	static final double MOST_DRIFT = 0.005;

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
	 * Returns the run that this node belongs to.
	 * @return the run
	 */
	public Simulation simulation() {
		return this.simulation;
	}

	/**
	 * Returns the name of this node in the history.
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

	/**
	 * Runs the earliest timer that is due. There is one event for each timer, but timers
	 * run in order of their due time.
	 */
	private void runNextTimer() {
		if (!this.timers.isEmpty() && this.timers.first().due() <= nanos()) {
			this.timers.pollFirst().task().run();
		}
	}

	@Override
	public long jitter(long boundNanos) {
		return this.simulation.random().nextLong(boundNanos);
	}

	/** Converts a duration on this node's clock to virtual time. */
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

	/**
	 * Runs a task now, or after the pause if this node is paused, or never if it was
	 * killed.
	 */
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
	 * Pauses this node until {@link #resume()}.
	 */
	public void pause() {
		if (!this.paused && !this.killed) {
			this.paused = true;
			this.pausedAt = this.simulation.now();
			record("pauses");
		}
	}

	/**
	 * Pauses this node for a fixed time.
	 * @param nanos the duration in nanoseconds
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
	 * Stops this node permanently.
	 */
	public void kill() {
		record("is killed");
		this.killed = true;
		this.paused = false;
		this.timers.clear();
		this.parked.clear();
	}

	/**
	 * Whether this node is paused.
	 * @return whether it is paused
	 */
	public boolean paused() {
		return this.paused;
	}

	/**
	 * Whether this node was killed.
	 * @return whether it was killed
	 */
	public boolean killed() {
		return this.killed;
	}

	/** Returns the virtual time without the pauses of this node. */
	long runningTime() {
		long present = this.paused ? this.simulation.now() - this.pausedAt : 0;
		return this.simulation.now() - this.pausedFor - present;
	}

	/**
	 * Records that a fault affects this node until the given time, so that checks do not
	 * expect normal behavior.
	 * @param time the virtual time
	 */
	public void disturbedUntil(long time) {
		this.disturbedUntil = Math.max(this.disturbedUntil, time);
	}

	/** Whether no fault has affected this node since the given time. */
	boolean calmSince(long time) {
		return !this.paused && !this.killed && this.disturbedUntil < time;
	}

	/** Returns the number of timers that have not run yet. */
	int pendingTimers() {
		return this.timers.size();
	}

	/**
	 * Records an event on this node that affects all locks.
	 * @param what the description of the event
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
