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

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.holdfast.lock.spi.LockBackend;

/**
 * The threads of one engine, apart for each kind of work, so that renewals and releases
 * never queue behind acquisitions, and none of these behind code of callers. They are
 * daemons, start when there is work and end when there is none. Attempts at stores that
 * do not block pass an {@link AttemptLimiter} instead.
 *
 * <p>
 * Each queue is bounded by what it serves: asynchronous acquisitions of stores that block
 * by {@value #MOST_ACQUISITIONS}, renewals by the leases that are held, of which each has
 * one renewal under way at most, and releases by the leases that have not ended yet. Code
 * of callers has no queue.
 */
final class Workers implements AutoCloseable {

	/** How many asynchronous acquisitions of stores that block may be under way. */
	static final int MOST_ACQUISITIONS = 10_000;

	private static final Log logger = LogFactory.getLog(Workers.class);

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
	 * Create workers.
	 * @param factories makes the threads of each kind
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

	/** Create workers on executors that somebody else closes. */
	Workers(Executor steps, Executor acquisitions, Executor renewals, Executor releases, Executor callbacks) {
		this.pools = List.of();
		this.steps = steps;
		this.acquisitions = acquisitions;
		this.renewals = renewals;
		this.releases = releases;
		this.callbacks = callbacks;
	}

	/** Workers that leave everything to one executor, which somebody else closes. */
	static Workers on(Executor executor) {
		return new Workers(executor, executor, executor, executor, executor);
	}

	private static ThreadFactory daemons(String kind) {
		AtomicInteger number = new AtomicInteger();
		return (task) -> {
			Thread thread = new Thread(task, "holdfast-%s-%s".formatted(kind, number.incrementAndGet()));
			thread.setDaemon(true);
			return thread;
		};
	}

	private static ThreadPoolExecutor pool(int threads, ThreadFactory factory) {
		ThreadPoolExecutor pool = new ThreadPoolExecutor(threads, threads, IDLE_SECONDS, TimeUnit.SECONDS,
				new LinkedBlockingQueue<>(), factory, (task, full) -> task.run());
		pool.allowCoreThreadTimeOut(true);
		return pool;
	}

	/** Has a thread for each task, since each may block, on another of them even. */
	private static ThreadPoolExecutor unbounded(ThreadFactory factory) {
		return new ThreadPoolExecutor(0, Integer.MAX_VALUE, IDLE_SECONDS, TimeUnit.SECONDS, new SynchronousQueue<>(),
				factory, (task, full) -> task.run());
	}

	/**
	 * Runs a task on a thread of the pool; on the caller's after the end, and where the
	 * system has no thread to give: a caller that is kept waiting is better than a
	 * release that is never sent.
	 */
	private static Executor runner(ThreadPoolExecutor pool) {
		return (task) -> {
			try {
				pool.execute(task);
			}
			catch (OutOfMemoryError ex) {
				logger.warn("No thread could be made for a step of the lock engine, so its caller carries it out", ex);
				task.run();
			}
		};
	}

	/**
	 * Counts in an asynchronous acquisition.
	 * @return whether there is room for it; if so, {@link #acquisitionEnds} must follow
	 */
	boolean acquisitionBegins(LockBackend backend) {
		if (!backend.capabilities().blocking() || this.blockingAcquisitions.incrementAndGet() <= MOST_ACQUISITIONS) {
			return true;
		}
		this.blockingAcquisitions.decrementAndGet();
		return false;
	}

	/** Counts out an asynchronous acquisition. */
	void acquisitionEnds(LockBackend backend) {
		if (backend.capabilities().blocking()) {
			this.blockingAcquisitions.decrementAndGet();
		}
	}

	/** Runs the steps of asynchronous acquisitions; none of them blocks. */
	Executor steps() {
		return this.steps;
	}

	/** Sends the attempts of asynchronous acquisitions. */
	RequestSender attempts(LockBackend backend) {
		return backend.capabilities().blocking() ? (request) -> this.acquisitions.execute(request::send)
				: limiter(backend);
	}

	/**
	 * Sends the attempts of callers that wait, at a store that blocks on their thread.
	 */
	RequestSender attemptsOnCaller(LockBackend backend) {
		return backend.capabilities().blocking() ? StoreRequest::send : limiter(backend);
	}

	private RequestSender limiter(LockBackend backend) {
		return this.limiters.computeIfAbsent(backend, (store) -> new AttemptLimiter());
	}

	/** Sends renewals to stores that block. */
	Executor renewals() {
		return this.renewals;
	}

	/** Sends releases and withdrawals to stores that block. */
	Executor releases() {
		return this.releases;
	}

	/**
	 * Runs code of asynchronous callers: their actions, and what they have derived from
	 * their futures. It may block, so it gets none of the threads that the engine needs.
	 */
	Executor callbacks() {
		return this.callbacks;
	}

	@Override
	public void close() {
		this.pools.forEach(ThreadPoolExecutor::shutdown);
	}

}
