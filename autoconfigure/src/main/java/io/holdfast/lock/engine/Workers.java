package io.holdfast.lock.engine;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * The few daemon threads that may be blocked: for callers that must not be, and for
 * stores that block. They come when there is work and go when there is none.
 */
final class Workers implements Executor, AutoCloseable {

	private static final Log logger = LogFactory.getLog(Workers.class);

	private static final int THREADS = 8;

	private static final int IDLE_SECONDS = 10;

	private final ThreadPoolExecutor threads;

	Workers() {
		this(daemons());
	}

	Workers(ThreadFactory factory) {
		this.threads = new ThreadPoolExecutor(THREADS, THREADS, IDLE_SECONDS, TimeUnit.SECONDS,
				new LinkedBlockingQueue<>(), factory, (task, threads) -> task.run());
		this.threads.allowCoreThreadTimeOut(true);
	}

	private static ThreadFactory daemons() {
		AtomicInteger number = new AtomicInteger();
		return (task) -> {
			Thread thread = new Thread(task, "holdfast-worker-" + number.incrementAndGet());
			thread.setDaemon(true);
			return thread;
		};
	}

	/**
	 * Run a task on one of these threads; on the caller's after the end, and where the
	 * system has no thread to give: a caller that is kept waiting is better than a
	 * release that is never sent.
	 */
	@Override
	public void execute(Runnable task) {
		try {
			this.threads.execute(task);
		}
		catch (OutOfMemoryError ex) {
			logger.warn("No thread could be made for a step of the lock engine, so its caller carries it out", ex);
			task.run();
		}
	}

	@Override
	public void close() {
		this.threads.shutdown();
	}

}
