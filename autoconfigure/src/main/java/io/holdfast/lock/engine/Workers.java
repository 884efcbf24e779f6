package io.holdfast.lock.engine;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The few daemon threads that may be blocked: for callers that must not be, and for
 * stores that block. They come when there is work and go when there is none.
 */
final class Workers implements Executor, AutoCloseable {

	private static final int THREADS = 8;

	private static final int IDLE_SECONDS = 10;

	private final ThreadPoolExecutor threads;

	Workers() {
		AtomicInteger number = new AtomicInteger();
		this.threads = new ThreadPoolExecutor(THREADS, THREADS, IDLE_SECONDS, TimeUnit.SECONDS,
				new LinkedBlockingQueue<>(), (task) -> {
					Thread thread = new Thread(task, "holdfast-worker-" + number.incrementAndGet());
					thread.setDaemon(true);
					return thread;
				}, new ThreadPoolExecutor.CallerRunsPolicy());
		this.threads.allowCoreThreadTimeOut(true);
	}

	@Override
	public void execute(Runnable task) {
		this.threads.execute(task);
	}

	@Override
	public void close() {
		this.threads.shutdown();
	}

}
