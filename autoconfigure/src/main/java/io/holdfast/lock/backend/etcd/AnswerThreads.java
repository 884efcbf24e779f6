package io.holdfast.lock.backend.etcd;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.holdfast.lock.support.Threads;

/**
 * Threads that deliver the answers of one client. The default ones of gRPC are shared
 * with other clients and servers of the application. Thread-safe.
 */
final class AnswerThreads implements AutoCloseable {

	private static final long IDLE_SECONDS = 60;

	private final AtomicInteger number = new AtomicInteger();

	private final ThreadFactory factory = Threads
		.daemons(() -> "holdfast-etcd-answers-" + this.number.incrementAndGet());

	private final Set<Thread> present = ConcurrentHashMap.newKeySet();

	private final ThreadPoolExecutor pool = new ThreadPoolExecutor(0, Integer.MAX_VALUE, IDLE_SECONDS, TimeUnit.SECONDS,
			new SynchronousQueue<>(), this::thread);

	private Thread thread(Runnable answers) {
		return this.factory.newThread(() -> {
			this.present.add(Thread.currentThread());
			try {
				answers.run();
			}
			finally {
				this.present.remove(Thread.currentThread());
			}
		});
	}

	ExecutorService executor() {
		return this.pool;
	}

	/** Whether a thread is one of these. */
	boolean include(Thread thread) {
		return this.present.contains(thread);
	}

	/**
	 * Ends each thread as soon as it is idle. A client that was closed still reports the
	 * failure of its unanswered requests.
	 */
	@Override
	public void close() {
		this.pool.setKeepAliveTime(0, TimeUnit.SECONDS);
	}

}
