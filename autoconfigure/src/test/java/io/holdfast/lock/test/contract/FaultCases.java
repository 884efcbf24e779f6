package io.holdfast.lock.test.contract;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import org.awaitility.Awaitility;

import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.AcquireResult.Acquired;
import io.holdfast.lock.spi.AcquireResult.Contended;
import io.holdfast.lock.spi.AcquireResult.Indeterminate;
import io.holdfast.lock.spi.Capability;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.ReleaseResult.NotHeld;
import io.holdfast.lock.spi.RenewResult.Refused;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Cases that verify that an unknown outcome is never reported as contended, and that an
 * interrupted request leaves no lock held.
 */
interface FaultCases {

	/**
	 * A client that repeats the request itself may return the grant. The broken
	 * connection may be that of another request, so that the store never receives the
	 * claim. The case then starts again.
	 */
	@Needs(Ability.LOST_REPLY)
	default void lostReplyAfterGrantIsNotReportedAsContended(Bench bench) throws Exception {
		int attempts = 1;
		while (!grantWithLostReplyExcludesOthers(bench)) {
			assertThat(++attempts).as("claims that did not reach the store").isLessThan(5);
		}
	}

	private static boolean grantWithLostReplyExcludesOthers(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Claim claim = Claims.exclusive(lock);
		bench.faults().loseNextReply();
		AcquireResult result = bench.tryAcquire(bench.first(), claim);
		assertThat(result).isNotInstanceOf(Contended.class);
		if (bench.attempt(bench.second(), Claims.exclusive(lock)) instanceof Acquired other) {
			assertThat(result).isInstanceOf(Indeterminate.class);
			bench.assertReleased(bench.second(), other.grant());
			abandonEventually(bench, claim);
			return false;
		}
		Grant grant = bench.acquireSoon(bench.first(), claim);
		if (result instanceof Acquired acquired) {
			bench.assertRepeated(grant, acquired.grant());
		}
		bench.assertReleased(bench.first(), grant);
		return true;
	}

	@Needs(Ability.LOST_REPLY)
	default void abandonedGrantWithLostReplyIsReleased(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Claim claim = Claims.exclusive(lock);
		bench.faults().loseNextReply();
		assertThat(bench.tryAcquire(bench.first(), claim)).isNotInstanceOf(Contended.class);
		bench.abandon(bench.first(), claim);
		bench.assertReleased(bench.second(), bench.acquireSoon(bench.second(), Claims.exclusive(lock)));
	}

	@Needs(Ability.CUT_CONNECTION)
	default void cutConnectionDoesNotFreeTheHolder(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant holder = bench.acquire(bench.first(), Claims.renewed(Claims.exclusive(lock)));
		bench.faults().cutConnections();
		Claim other = Claims.exclusive(lock);
		Awaitility.await("a refusal").atMost(bench.bound()).until(() -> {
			AcquireResult result = bench.tryAcquire(bench.second(), other);
			assertThat(result).isNotInstanceOf(Acquired.class);
			return result instanceof Contended;
		});
		releaseEventually(bench, holder);
		bench.assertReleased(bench.second(), bench.acquireSoon(bench.second(), other));
	}

	@Needs(Ability.RESTART)
	default void storeIsUsableAgainAfterARestart(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant before = bench.acquire(bench.first(), Claims.exclusive(lock));
		bench.faults().restart();
		releaseEventually(bench, before);
		for (int i = 0; i < 2; i++) {
			bench.assertReleased(bench.client(i), bench.acquireSoon(bench.client(i), Claims.exclusive(lock)));
		}
	}

	@Needs(Ability.PAUSE)
	default void unansweredRequestIsIndeterminate(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Claim claim = Claims.exclusive(lock);
		AcquireResult result;
		bench.faults().pause();
		try {
			result = bench.tryAcquire(bench.first(), claim);
		}
		finally {
			bench.faults().resume();
		}
		assertThat(result).isInstanceOf(Indeterminate.class);
		abandonEventually(bench, claim);
		bench.assertReleased(bench.second(), bench.acquireSoon(bench.second(), Claims.exclusive(lock)));
	}

	/**
	 * The engine calls a backend on the timer that all locks share, unless the backend
	 * declares that it blocks. A pause of this process is no wait for the store, so each
	 * method is called twice.
	 */
	@Needs(Ability.PAUSE)
	default void methodThatWaitsOnItsThreadIsDeclaredBlocking(Bench bench) throws Exception {
		Grant grant = bench.acquire(bench.first(), Claims.exclusive(Claims.newLock()));
		// a store may carry out an attempt after its withdrawal
		Claim claim = Claims.exclusive(Claims.newLock()).withLeaseTime(Duration.ofSeconds(3));
		Map<String, Supplier<CompletionStage<?>>> methods = new LinkedHashMap<>();
		methods.put("tryAcquire", () -> bench.first().tryAcquire(claim));
		methods.put("renew", () -> bench.first().renew(List.of(grant)));
		methods.put("release", () -> bench.first().release(grant));
		methods.put("abandon", () -> bench.first().abandon(claim));
		List<CompletionStage<?>> answers = new ArrayList<>();
		Optional<String> blocking;
		bench.faults().pause();
		try {
			// one is enough: each waits for seconds
			blocking = methods.keySet()
				.stream()
				.filter((name) -> waits(methods.get(name), answers) && waits(methods.get(name), answers))
				.findFirst();
		}
		finally {
			bench.faults().resume();
		}
		Awaitility.await("all responses")
			.atMost(bench.bound())
			.until(() -> answers.stream().allMatch((answer) -> answer.toCompletableFuture().isDone()));
		abandonEventually(bench, claim);
		releaseEventually(bench, grant);
		assertThat(bench.first().capabilities().has(Capability.BLOCKING))
			.as("capability 'blocking'; method that waits for the store on the calling thread: %s", blocking)
			.isEqualTo(blocking.isPresent());
	}

	/** Whether a method has the response when it returns, and took long to return. */
	private static boolean waits(Supplier<CompletionStage<?>> method, List<CompletionStage<?>> answers) {
		long start = System.nanoTime();
		CompletionStage<?> answer = method.get();
		boolean slow = System.nanoTime() - start > Duration.ofMillis(50).toNanos();
		answers.add(answer);
		return slow && answer.toCompletableFuture().isDone();
	}

	@Needs(Ability.KILLED_SESSION)
	default void killedSessionReportsLost(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant grant = bench.acquire(bench.first(), Claims.renewed(Claims.exclusive(lock)));
		assertThat(grant.revocable()).isTrue();
		CompletableFuture<?> revoked = grant.revoked().toCompletableFuture();
		assertThat(revoked).isNotDone();
		bench.faults().killSession();
		Awaitility.await("the revocation").atMost(bench.bound()).until(revoked::isDone);
		Grant successor = bench.acquireSoon(bench.second(), Claims.exclusive(lock));
		assertThat(successor.storeToken()).isGreaterThan(grant.storeToken());
		Awaitility.await("a refusal")
			.atMost(bench.bound())
			.until(() -> bench.renew(bench.first(), grant).get(0) instanceof Refused);
		Awaitility.await("a release that is not held")
			.atMost(bench.bound())
			.until(() -> bench.release(bench.first(), grant) instanceof NotHeld);
		bench.assertContended(bench.first(), Claims.exclusive(lock));
		bench.assertReleased(bench.second(), successor);
	}

	private static void releaseEventually(Bench bench, Grant grant) {
		Awaitility.await("a release that is answered")
			.atMost(bench.bound())
			.until(() -> !(bench.release(bench.first(),
					grant) instanceof io.holdfast.lock.spi.ReleaseResult.Indeterminate));
	}

	private static void abandonEventually(Bench bench, Claim claim) {
		Awaitility.await("a withdrawal that is answered")
			.atMost(bench.bound())
			.ignoreExceptions()
			.untilAsserted(() -> bench.abandon(bench.first(), claim));
	}

}
