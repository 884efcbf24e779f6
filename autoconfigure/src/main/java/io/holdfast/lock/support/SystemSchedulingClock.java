package io.holdfast.lock.support;

import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The system's monotonic clock, with one daemon thread for all scheduled tasks.
 */
public final class SystemSchedulingClock implements SchedulingClock, AutoCloseable {

	private static final GuardedLog logger = GuardedLog.of(SystemSchedulingClock.class);

	/**
	 * How often the thread wakes up while the clock is in use. Most tasks are timeouts
	 * that are longer than this and are cancelled. Without a task before them, each would
	 * wake the thread when it is scheduled.
	 */
	static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

	/** Keeps times small, so that they can be compared without overflow. */
	private final long origin = System.nanoTime();

	private final ScheduledThreadPoolExecutor timer;

	private final AtomicBoolean ticking = new AtomicBoolean();

	/** Whether a task was scheduled since the last tick. */
	private volatile boolean used;

	/**
	 * Creates a clock. Its thread starts with the first scheduled task.
	 * @param threadName the name of the thread that runs scheduled tasks
	 */
	public SystemSchedulingClock(String threadName) {
		this.timer = new ScheduledThreadPoolExecutor(1, Threads.daemons(() -> threadName));
		this.timer.setRemoveOnCancelPolicy(true);
		this.timer.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
		// after shutdown no lock is left to keep, so a late task is dropped
		this.timer.setRejectedExecutionHandler((task, executor) -> {
		});
	}

	@Override
	public long nanos() {
		return System.nanoTime() - this.origin;
	}

	@Override
	public Runnable after(long delayNanos, Runnable task) {
		if (!this.used) {
			this.used = true;
			keepTicking();
		}
		Future<?> scheduled = this.timer.schedule(() -> runSafely(task), delayNanos, TimeUnit.NANOSECONDS);
		return () -> scheduled.cancel(false);
	}

	private void keepTicking() {
		if (this.ticking.compareAndSet(false, true)) {
			this.timer.schedule(this::tick, TICK_NANOS, TimeUnit.NANOSECONDS);
		}
	}

	private void tick() {
		this.ticking.set(false);
		if (this.used) {
			this.used = false;
			keepTicking();
		}
	}

	/** Whether a task would not wake the thread before its time. */
	boolean isTicking() {
		return this.ticking.get();
	}

	private static void runSafely(Runnable task) {
		try {
			task.run();
		}
		catch (RuntimeException | Error ex) {
			logger.error("A scheduled task of the lock engine failed; the affected lease expires by itself", ex);
		}
	}

	/** Stops the thread and drops all scheduled tasks. */
	@Override
	public void close() {
		this.timer.shutdownNow();
	}

}
