package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockException;
import io.holdfast.lock.spi.Capability;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.support.DurationText;
import io.holdfast.lock.support.Failures;
import io.holdfast.lock.support.Stages;
import io.holdfast.lock.support.Threads;

/**
 * Sends the queries of operators to stores and waits for the responses in bounded time.
 * Queries use a few threads of their own. A store that hangs therefore blocks neither an
 * acquisition nor a renewal. Further queries wait for a thread within their own timeout.
 */
final class StoreQueries {

	/** Maximum number of queries that are being sent. */
	static final int MOST_QUERIES = 8;

	/** Maximum number of queries that wait for a thread. */
	static final int MOST_WAITING = 1000;

	private static final int IDLE_SECONDS = 5;

	private final ThreadPoolExecutor threads = new ThreadPoolExecutor(MOST_QUERIES, MOST_QUERIES, IDLE_SECONDS,
			TimeUnit.SECONDS, new LinkedBlockingQueue<>(MOST_WAITING), Threads.daemons(() -> "holdfast-query"));

	StoreQueries() {
		this.threads.allowCoreThreadTimeOut(true);
	}

	/**
	 * Sends a query and waits for its response.
	 * @param backend the backend that sends the query
	 * @param timeout the longest wait
	 * @param query sends the query; may block
	 * @throws LockException if the query fails or is not answered in time
	 */
	<T> T ask(LockBackend backend, Duration timeout, Supplier<? extends CompletionStage<T>> query) {
		CompletableFuture<T> answer = new CompletableFuture<>();
		Runnable send = () -> StoreResponses.ask(Supplier::get, query)
			.whenComplete((value, failure) -> Stages.settle(answer, value, failure));
		try {
			this.threads.execute(send);
			return answer.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (RejectedExecutionException ex) {
			throw failure(backend, "%s queries are waiting already".formatted(MOST_WAITING), ex);
		}
		catch (TimeoutException ex) {
			this.threads.remove(send);
			throw failure(backend, "no response within " + DurationText.of(timeout), ex);
		}
		catch (InterruptedException ex) {
			this.threads.remove(send);
			Thread.currentThread().interrupt();
			throw failure(backend, "this thread was interrupted", ex);
		}
		catch (ExecutionException ex) {
			Throwable cause = Stages.cause(ex);
			throw (cause instanceof LockException ours) ? ours : failure(backend, Failures.rootMessage(cause), cause);
		}
	}

	private static LockBackendException failure(LockBackend backend, String reason, Throwable cause) {
		return new LockBackendException(null, backend.name(),
				"The store of backend '%s' cannot be queried: %s. Check that it is reachable%s."
					.formatted(backend.name(), reason, backend.capabilities().has(Capability.BLOCKING)
							? " and that its connection pool is not exhausted" : ""),
				cause);
	}

}
