package io.holdfast.lock.test.simulation;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/**
 * A simulated thread that can block. It is a real thread, but it runs only while the
 * simulation's thread waits for it. Therefore, at most one of the two runs at any time.
 */
final class Coroutine {

	private static final ThreadFactory DAEMONS = (task) -> {
		Thread thread = new Thread(task, "simulated-thread");
		thread.setDaemon(true);
		return thread;
	};

	private static final ExecutorService THREADS = Executors.newCachedThreadPool(DAEMONS);

	private static final ThreadLocal<@Nullable Coroutine> CURRENT = new ThreadLocal<>();

	private final SimulatedNode node;

	private final Consumer<Coroutine> body;

	private final Semaphore mayRun = new Semaphore(0);

	private final Semaphore mayContinue = new Semaphore(0);

	private boolean abandoned;

	private boolean blocked;

	Coroutine(SimulatedNode node, Consumer<Coroutine> body) {
		this.node = node;
		this.body = body;
	}

	/**
	 * Runs the body until it blocks or returns. Must be called in an event of the node.
	 */
	void start() {
		THREADS.execute(this::live);
		this.mayContinue.acquireUninterruptibly();
	}

	private void live() {
		CURRENT.set(this);
		try {
			this.node.run(() -> this.body.accept(this));
		}
		finally {
			CURRENT.remove();
			this.mayContinue.release();
		}
	}

	/** Whether the calling thread is a simulated one, which can block. */
	static boolean isCurrent() {
		return CURRENT.get() != null;
	}

	/**
	 * Blocks the calling simulated thread until a future completes on its node.
	 * @param future the future
	 */
	static void await(CompletableFuture<?> future) {
		Coroutine current = CURRENT.get();
		if (current == null) {
			throw new IllegalStateException("Only a simulated thread can block");
		}
		current.block(future);
	}

	private void block(CompletableFuture<?> future) {
		if (!future.isDone()) {
			future.whenComplete((value, failure) -> this.node.execute(this::resume));
			this.blocked = true;
			this.mayContinue.release();
			this.mayRun.acquireUninterruptibly();
		}
		if (this.abandoned) {
			throw new IllegalStateException("The simulation has ended");
		}
	}

	private void resume() {
		if (this.blocked) {
			this.blocked = false;
			this.mayRun.release();
			this.mayContinue.acquireUninterruptibly();
		}
	}

	/** Ends a thread that is still blocked at the end of its simulation. */
	void abandon() {
		this.abandoned = true;
		resume();
	}

}
