package io.holdfast.lock.backend;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

import org.awaitility.Awaitility;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.AcquireResult.Acquired;
import io.holdfast.lock.spi.AcquireResult.Contended;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.RenewResult;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Sends requests to a backend, waits for the responses and asserts them.
 */
public final class Verbs {

	/** The longest wait for an event that must happen soon. */
	public static final Duration BOUND = Duration.ofSeconds(25);

	private Verbs() {
	}

	/**
	 * Returns the claim of a new owner that renews its lease and waits for up to a
	 * minute.
	 */
	public static Claim claim(LockName lock) {
		return new Claim(lock, OwnerId.random(), LockMode.EXCLUSIVE, Duration.ofSeconds(30), true,
				Duration.ofMinutes(1), false);
	}

	/**
	 * Returns a claim like {@link #claim} with the given lease, which its owner does not
	 * renew.
	 */
	public static Claim lasting(LockName lock, Duration lease) {
		return new Claim(lock, OwnerId.random(), LockMode.EXCLUSIVE, lease, false, Duration.ofMinutes(1), false);
	}

	public static <T> T answer(CompletionStage<T> stage) throws Exception {
		return stage.toCompletableFuture().get(BOUND.toSeconds(), TimeUnit.SECONDS);
	}

	public static AcquireResult ask(LockBackend store, Claim claim) throws Exception {
		return answer(store.tryAcquire(claim));
	}

	public static Grant granted(LockBackend store, Claim claim) throws Exception {
		AcquireResult result = ask(store, claim);
		assertThat(result).isInstanceOf(Acquired.class);
		return ((Acquired) result).grant();
	}

	public static Grant soonGranted(LockBackend store, Claim claim) {
		AcquireResult result = Awaitility.await("a grant")
			.atMost(BOUND)
			.until(() -> ask(store, claim), Acquired.class::isInstance);
		return ((Acquired) result).grant();
	}

	/** Asserts that the lock is contended, and returns the signal. */
	public static CompletionStage<?> refused(LockBackend store, Claim claim) throws Exception {
		AcquireResult result = ask(store, claim);
		assertThat(result).isInstanceOf(Contended.class);
		return ((Contended) result).signal();
	}

	/**
	 * Retries until the lock is contended, because the backend may have to connect first,
	 * and returns the signal.
	 */
	public static CompletionStage<?> soonRefused(LockBackend store, Claim claim) {
		AcquireResult result = Awaitility.await("a refusal")
			.atMost(BOUND)
			.until(() -> ask(store, claim), Contended.class::isInstance);
		return ((Contended) result).signal();
	}

	public static void awaitSignal(CompletionStage<?> signal) {
		Awaitility.await("a signal").atMost(BOUND).until(() -> signal.toCompletableFuture().isDone());
	}

	/** Whether another claim has demanded the lease. */
	public static boolean isWanted(Grant grant) {
		return grant.wanted().toCompletableFuture().isDone();
	}

	public static RenewResult renewed(LockBackend store, Grant grant) throws Exception {
		return answer(store.renew(List.of(grant))).get(0);
	}

	public static void soonRenewed(LockBackend store, Grant grant) {
		Awaitility.await("a renewal").atMost(BOUND).until(() -> renewed(store, grant) instanceof RenewResult.Renewed);
	}

	public static void released(LockBackend store, Grant grant) throws Exception {
		assertThat(answer(store.release(grant))).isInstanceOf(ReleaseResult.Released.class);
	}

	public static void soonReleased(LockBackend store, Grant grant) {
		Awaitility.await("a release")
			.atMost(BOUND)
			.until(() -> !(answer(store.release(grant)) instanceof ReleaseResult.Indeterminate));
	}

}
