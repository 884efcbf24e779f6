package io.holdfast.lock.support;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * Threads of Holdfast. All of them are daemons, so none keeps a JVM from ending.
 */
public final class Threads {

	private Threads() {
	}

	/**
	 * Creates a daemon thread. It inherits no thread-local values, because it may outlive
	 * the request of the caller that needs it first.
	 * @param name the name of the thread
	 * @param task what it runs
	 * @return the thread, not started
	 */
	public static Thread daemon(String name, Runnable task) {
		return daemon(name, task, Thread.currentThread().getContextClassLoader());
	}

	/**
	 * Returns a factory for the threads of a pool. Their context class loader is that of
	 * the thread that creates the factory, regardless of the caller that needs a thread.
	 * @param names supplies the name of each thread
	 * @return the factory
	 */
	public static ThreadFactory daemons(Supplier<String> names) {
		ClassLoader loader = Thread.currentThread().getContextClassLoader();
		return (task) -> daemon(names.get(), task, loader);
	}

	private static Thread daemon(String name, Runnable task, @Nullable ClassLoader loader) {
		Thread thread = new OwnThread(task, name);
		thread.setDaemon(true);
		thread.setContextClassLoader(loader);
		return thread;
	}

	/**
	 * Returns whether a thread is one of Holdfast, whose work waits while code of the
	 * application runs on it.
	 * @param thread the thread
	 * @return whether {@link #daemon} has created it
	 */
	public static boolean isOwn(Thread thread) {
		return thread instanceof OwnThread;
	}

	/**
	 * Closes something on a thread of its own, and waits for that, but not for longer
	 * than a time limit: a client may wait for a thread of its own that runs code of the
	 * application, such as {@code System.exit}, which waits for the client.
	 * @param name the name of the thread
	 * @param limit how long to wait
	 * @param close what closes it
	 */
	public static void close(String name, Duration limit, Runnable close) {
		CompletableFuture<?> closed = new CompletableFuture<>();
		daemon(name, () -> {
			try {
				close.run();
			}
			finally {
				closed.complete(null);
			}
		}).start();
		await(closed, limit);
	}

	/**
	 * Waits until something is done, but not for longer than a time limit.
	 * @param done completes normally when it is done; not changed
	 * @param limit how long to wait
	 */
	public static void await(CompletableFuture<?> done, Duration limit) {
		done.<Object>thenApply((result) -> true).completeOnTimeout(false, limit.toNanos(), TimeUnit.NANOSECONDS).join();
	}

	/** A thread of Holdfast. */
	private static final class OwnThread extends Thread {

		OwnThread(Runnable task, String name) {
			super(null, task, name, 0, false);
		}

	}

}
