package io.holdfast.lock.test.contract;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.function.Supplier;

import io.holdfast.lock.LockName;
import io.holdfast.lock.LockState;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.AcquireResult.Acquired;
import io.holdfast.lock.spi.AcquireResult.Contended;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.ReleaseResult.NotHeld;
import io.holdfast.lock.spi.ReleaseResult.Released;
import io.holdfast.lock.spi.RenewResult;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Fixture of one case: two clients of a store, with operations that wait for their
 * results. Thread-safe, because it keeps no record of its requests.
 */
final class Bench {

	private static final long PAUSE_AFTER_INDETERMINATE_NANOS = Duration.ofMillis(50).toNanos();

	private final LockBackendContract contract;

	private final LockBackend first;

	private final LockBackend second;

	Bench(LockBackendContract contract) {
		this.contract = contract;
		this.first = EngineTimers.around(contract.backend());
		this.second = EngineTimers.around(contract.secondClient());
	}

	/**
	 * Asserts that a repeated request of an owner returned its grant. A store that
	 * decides by votes may raise the token when a node that missed the first request
	 * joins the grant.
	 */
	void assertRepeated(Grant again, Grant grant) {
		if (decidesByVotes()) {
			assertThat(again.storeToken()).isGreaterThanOrEqualTo(grant.storeToken());
		}
		else {
			assertThat(again.storeToken()).isEqualTo(grant.storeToken());
		}
	}

	/** Whether a minority of the store may carry out a confirmed request later. */
	boolean decidesByVotes() {
		return this.contract.lacks().containsKey(Ability.UNDIVIDED_VOTE);
	}

	LockBackendContract contract() {
		return this.contract;
	}

	LockBackend first() {
		return this.first;
	}

	LockBackend second() {
		return this.second;
	}

	/** Returns the first client for an even number, the second one for an odd number. */
	LockBackend client(int number) {
		return (number % 2 == 0) ? first() : second();
	}

	StoreFaults faults() {
		return this.contract.faults();
	}

	Duration shortLease() {
		return this.contract.shortLease();
	}

	Duration bound() {
		return this.contract.bound();
	}

	Collection<String> leftovers() throws Exception {
		return this.contract.leftovers();
	}

	AcquireResult tryAcquire(LockBackend client, Claim claim) throws Exception {
		return answer(client.tryAcquire(claim));
	}

	/**
	 * Makes one attempt, and repeats it while the outcome is unknown. This is possible
	 * for a moment after the faults of an earlier case, when the store removes an expired
	 * grant, and on a busy machine.
	 */
	AcquireResult attempt(LockBackend client, Claim claim) throws Exception {
		return repeatWhile(AcquireResult.Indeterminate.class::isInstance, () -> tryAcquire(client, claim));
	}

	/** Makes one {@linkplain #attempt attempt} and asserts that it was granted. */
	Grant acquire(LockBackend client, Claim claim) throws Exception {
		AcquireResult result = attempt(client, claim);
		assertThat(result).as("answer to %s", claim).isInstanceOf(Acquired.class);
		return ((Acquired) result).grant();
	}

	/** Makes one {@linkplain #attempt attempt} and asserts that it was refused. */
	Contended assertContended(LockBackend client, Claim claim) throws Exception {
		AcquireResult result = attempt(client, claim);
		assertThat(result).as("answer to %s", claim).isInstanceOf(Contended.class);
		return (Contended) result;
	}

	/**
	 * Acquires the lock within {@link #bound()}. Retries after each signal or delay, as
	 * the engine does.
	 */
	Grant acquireSoon(LockBackend client, Claim claim) throws Exception {
		return acquireSoonSince(client, claim).grant();
	}

	Granted acquireSoonSince(LockBackend client, Claim claim) throws Exception {
		long start = System.nanoTime();
		while (true) {
			long requestedAt = System.nanoTime();
			Duration left = bound().minusNanos(requestedAt - start);
			assertThat(left).as("time left to get in as %s", claim).isPositive();
			AcquireResult result = tryAcquire(client, claim.withRemainingWait(Claims.LONG_LEASE));
			if (result instanceof Acquired acquired) {
				return new Granted(acquired.grant(), requestedAt);
			}
			else if (result instanceof Contended contended) {
				awaitRetry(contended, left);
			}
			else {
				LockSupport.parkNanos(PAUSE_AFTER_INDETERMINATE_NANOS);
			}
		}
	}

	private static void awaitRetry(Contended contended, Duration atMost) throws InterruptedException {
		long nanos = Math.min(contended.retryAfter().toNanos(), atMost.toNanos());
		try {
			contended.signal().toCompletableFuture().get(nanos, TimeUnit.NANOSECONDS);
		}
		catch (ExecutionException | TimeoutException ex) {
			// retry in either case
		}
	}

	/** Renews the grants, and repeats this while an outcome is unknown. */
	List<RenewResult> renew(LockBackend client, Grant... grants) throws Exception {
		return repeatWhile((results) -> results.stream().anyMatch(RenewResult.Indeterminate.class::isInstance),
				() -> answer(client.renew(List.of(grants))));
	}

	/** Retains the lock, and repeats this while the store does not answer. */
	boolean retain(LockBackend client, Grant grant, Duration remaining) throws Exception {
		return answered(() -> client.retain(grant, remaining));
	}

	ReleaseResult release(LockBackend client, Grant grant) throws Exception {
		return answer(client.release(grant));
	}

	/**
	 * Releases the lock and asserts that it was held. A request whose reply is lost may
	 * have released it, so its repetition may find nothing.
	 */
	void assertReleased(LockBackend client, Grant grant) throws Exception {
		ReleaseResult first = release(client, grant);
		if (first instanceof ReleaseResult.Indeterminate) {
			assertThat(knownRelease(client, grant)).as("repeated release of %s", grant)
				.isInstanceOfAny(Released.class, NotHeld.class);
		}
		else {
			assertThat(first).as("release of %s", grant).isInstanceOf(Released.class);
		}
	}

	/** Releases the lock and asserts that it was no longer held. */
	void assertNotHeld(LockBackend client, Grant grant) throws Exception {
		assertThat(knownRelease(client, grant)).as("release of %s", grant).isInstanceOf(NotHeld.class);
	}

	private ReleaseResult knownRelease(LockBackend client, Grant grant) throws Exception {
		return repeatWhile(ReleaseResult.Indeterminate.class::isInstance, () -> release(client, grant));
	}

	/** Repeats a request while its outcome is unknown, for at most the bound. */
	private <T> T repeatWhile(Predicate<? super T> unknown, Callable<T> request) throws Exception {
		long start = System.nanoTime();
		T result = request.call();
		while (unknown.test(result) && System.nanoTime() - start < bound().toNanos()) {
			LockSupport.parkNanos(PAUSE_AFTER_INDETERMINATE_NANOS);
			result = request.call();
		}
		return result;
	}

	/** Looks a lock up, and repeats this while the store does not answer. */
	LockState find(LockBackend client, LockName lock) throws Exception {
		return answered(() -> client.find(lock));
	}

	private <T> T answered(Supplier<CompletionStage<T>> request) throws Exception {
		return answer(repeatWhile(CompletableFuture::isCompletedExceptionally, () -> {
			CompletableFuture<T> response = request.get().toCompletableFuture();
			answer(response.handle((value, failure) -> null));
			return response;
		}));
	}

	/** Returns whether the lease has ended by this call, if the store can tell. */
	boolean revoke(LockBackend client, LockName lock, LockState.Holder holder) throws Exception {
		return answer(client.revoke(lock, holder));
	}

	/** Withdraws the claim, and repeats this while the store does not answer. */
	void abandon(LockBackend client, Claim claim) throws Exception {
		answered(() -> client.abandon(claim));
	}

	<T> T answer(CompletionStage<T> stage) throws Exception {
		return stage.toCompletableFuture().get(bound().toNanos(), TimeUnit.NANOSECONDS);
	}

	/** Runs all tasks at the same time, each on its own thread. */
	<T> List<T> runConcurrently(List<Callable<T>> tasks) throws Exception {
		CountDownLatch start = new CountDownLatch(tasks.size());
		ExecutorService threads = Executors.newFixedThreadPool(tasks.size());
		try {
			List<Future<T>> futures = new ArrayList<>();
			for (Callable<T> task : tasks) {
				futures.add(threads.submit(() -> {
					start.countDown();
					start.await();
					return task.call();
				}));
			}
			List<T> results = new ArrayList<>();
			for (Future<T> future : futures) {
				results.add(future.get(1, TimeUnit.MINUTES));
			}
			return results;
		}
		finally {
			threads.shutdownNow();
			assertThat(threads.awaitTermination(1, TimeUnit.MINUTES)).as("threads of the case ended").isTrue();
		}
	}

	/**
	 * A grant, and the time at which its request was sent.
	 */
	record Granted(Grant grant, long requestedAt) {
	}

}
