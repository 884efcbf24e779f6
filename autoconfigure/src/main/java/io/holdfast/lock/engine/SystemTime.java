package io.holdfast.lock.engine;

import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * The real clock, with one daemon thread for everything that happens later.
 */
final class SystemTime implements EngineTime, AutoCloseable {

	private static final Log logger = LogFactory.getLog(SystemTime.class);

	/** So that the times of the engine are small and can be compared without overflow. */
	private final long origin = System.nanoTime();

	private final ScheduledThreadPoolExecutor timer;

	SystemTime() {
		this.timer = new ScheduledThreadPoolExecutor(1, (task) -> {
			Thread thread = new Thread(task, "holdfast-timer");
			thread.setDaemon(true);
			return thread;
		});
		this.timer.setRemoveOnCancelPolicy(true);
		this.timer.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
		// after shutdown nothing is left to keep: a late task is dropped in silence
		this.timer.setRejectedExecutionHandler((task, executor) -> {
		});
	}

	@Override
	public long nanos() {
		return System.nanoTime() - this.origin;
	}

	@Override
	public Runnable after(long delayNanos, Runnable task) {
		Future<?> scheduled = this.timer.schedule(() -> runSafely(task), delayNanos, TimeUnit.NANOSECONDS);
		return () -> scheduled.cancel(false);
	}

	private static void runSafely(Runnable task) {
		try {
			task.run();
		}
		catch (RuntimeException | Error ex) {
			logger.error("A timed step of the lock engine failed; what it served is settled by its lease", ex);
		}
	}

	@Override
	public void close() {
		this.timer.shutdownNow();
	}

}
