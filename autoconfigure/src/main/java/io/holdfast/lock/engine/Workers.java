package io.holdfast.lock.engine;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

import io.holdfast.lock.spi.Capability;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.support.GuardedLog;
import io.holdfast.lock.support.Threads;

/**
 * Threads of one engine, separate for each kind of work. Renewals and releases never
 * queue behind acquisitions, and no work of the engine queues behind callers' code. The
 * threads are daemons, start on demand, and end after {@value #IDLE_SECONDS} seconds
 * without work. Attempts with non-blocking backends use an {@link AttemptLimiter}
 * instead.
 *
 * <p>
 * Each queue is bounded by its work. At most {@value #MOST_ACQUISITIONS} asynchronous
 * acquisitions with blocking backends are accepted. Renewals are bounded by the leases
 * that are held, because each has at most one in progress. Releases are bounded by the
 * leases that have not ended yet. Callers' code has no queue.
 */
final class Workers implements AutoCloseable {

	/** Maximum number of asynchronous acquisitions in progress with blocking backends. */
	static final int MOST_ACQUISITIONS = 10_000;

	private static final GuardedLog logger = GuardedLog.of(Workers.class);

	private static final int THREADS = 8;

	private static final int RENEWAL_THREADS = 4;

	private static final int IDLE_SECONDS = 10;

	private final Executor steps;

	private final Executor acquisitions;

	private final Executor renewals;

	private final Executor releases;

	private final Executor callbacks;

	private final List<ThreadPoolExecutor> pools;

	private final Map<LockBackend, AttemptLimiter> limiters = new ConcurrentHashMap<>();

	private final AtomicInteger blockingAcquisitions = new AtomicInteger();

	Workers() {
		this(Workers::daemons);
	}

	/**
	 * Creates workers.
	 * @param factories creates the thread factory for each kind of work
	 */
	Workers(Function<String, ThreadFactory> factories) {
		this.pools = List.of(pool(THREADS, factories.apply("worker")), pool(THREADS, factories.apply("acquisition")),
				pool(RENEWAL_THREADS, factories.apply("renewal")), pool(THREADS, factories.apply("release")),
				unbounded(factories.apply("callback")));
		this.steps = runner(this.pools.get(0));
		this.acquisitions = runner(this.pools.get(1));
		this.renewals = runner(this.pools.get(2));
		this.releases = runner(this.pools.get(3));
		this.callbacks = runner(this.pools.get(4));
	}

	/** Creates workers on executors that {@link #close()} leaves open. */
	Workers(Executor steps, Executor acquisitions, Executor renewals, Executor releases, Executor callbacks) {
		this.pools = List.of();
		this.steps = steps;
		this.acquisitions = acquisitions;
		this.renewals = renewals;
		this.releases = releases;
		this.callbacks = callbacks;
	}

	/** Creates workers on a single executor that {@link #close()} leaves open. */
	static Workers on(Executor executor) {
		return new Workers(executor, executor, executor, executor, executor);
	}

	private static ThreadFactory daemons(String kind) {
		AtomicInteger number = new AtomicInteger();
		return Threads.daemons(() -> "holdfast-%s-%s".formatted(kind, number.incrementAndGet()));
	}

	private static ThreadPoolExecutor pool(int threads, ThreadFactory factory) {
		ThreadPoolExecutor pool = new ThreadPoolExecutor(threads, threads, IDLE_SECONDS, TimeUnit.SECONDS,
				new LinkedBlockingQueue<>(), factory, (task, full) -> task.run());
		pool.allowCoreThreadTimeOut(true);
		return pool;
	}

	/** Uses a thread for each task, because a task may block, even on another task. */
	private static ThreadPoolExecutor unbounded(ThreadFactory factory) {
		return new ThreadPoolExecutor(0, Integer.MAX_VALUE, IDLE_SECONDS, TimeUnit.SECONDS, new SynchronousQueue<>(),
				factory, (task, full) -> task.run());
	}

	/**
	 * Runs a task on a thread of the pool. The caller's thread runs it after shutdown, or
	 * if the system cannot create a thread: a delayed caller is better than a release
	 * that is never sent.
	 */
	private static Executor runner(ThreadPoolExecutor pool) {
		return (task) -> {
			try {
				pool.execute(task);
			}
			catch (OutOfMemoryError ex) {
				logger.warn("No thread could be created for a task of the lock engine, so the caller runs it", ex);
				task.run();
			}
		};
	}

	/**
	 * Registers an asynchronous acquisition.
	 * @return whether it is accepted; if so, {@link #acquisitionEnds} must follow
	 */
	boolean acquisitionStarts(LockBackend backend) {
		if (!backend.capabilities().has(Capability.BLOCKING)
				|| this.blockingAcquisitions.incrementAndGet() <= MOST_ACQUISITIONS) {
			return true;
		}
		this.blockingAcquisitions.decrementAndGet();
		return false;
	}

	/** Unregisters an asynchronous acquisition. */
	void acquisitionEnds(LockBackend backend) {
		if (backend.capabilities().has(Capability.BLOCKING)) {
			this.blockingAcquisitions.decrementAndGet();
		}
	}

	/** Returns the executor for steps of asynchronous acquisitions, which never block. */
	Executor steps() {
		return this.steps;
	}

	/** Returns the sender for attempts of asynchronous acquisitions. */
	StoreRequest.Sender attempts(LockBackend backend) {
		return backend.capabilities().has(Capability.BLOCKING) ? (request) -> this.acquisitions.execute(request::send)
				: limiter(backend);
	}

	/**
	 * Returns the sender for attempts of callers that wait. With a blocking backend, it
	 * sends on their thread.
	 */
	StoreRequest.Sender attemptsOnCaller(LockBackend backend) {
		return backend.capabilities().has(Capability.BLOCKING) ? StoreRequest::sendNow : limiter(backend);
	}

	private StoreRequest.Sender limiter(LockBackend backend) {
		return this.limiters.computeIfAbsent(backend, (key) -> new AttemptLimiter());
	}

	/** Returns the executor for renewals with blocking backends. */
	Executor renewals() {
		return this.renewals;
	}

	/** Returns the executor for releases and withdrawals with blocking backends. */
	Executor releases() {
		return this.releases;
	}

	/**
	 * Returns the executor for code of asynchronous callers: their actions, and the
	 * stages that they derive from their futures. This code may block, so it does not use
	 * the threads that the engine needs.
	 */
	Executor callbacks() {
		return this.callbacks;
	}

	@Override
	public void close() {
		this.pools.forEach(ThreadPoolExecutor::shutdown);
	}

}
