package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockNotAcquiredException;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.spi.AcquireResult;

import static io.holdfast.lock.engine.EngineFixture.LOCK;
import static io.holdfast.lock.engine.EngineFixture.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link AcquisitionFailures}.
 */
class AcquisitionFailuresTests {

	private static final LockName FIRST = LockName.of("stock", "1");

	private static final LockName SECOND = LockName.of("stock", "2");

	private static final Duration WAIT = Duration.ofSeconds(8);

	private final EngineFixture fixture = new EngineFixture();

	private final FakeBackend backend = this.fixture.backend;

	@Test
	void refusalOfOneOfSeveralLocksNamesTheWaitOfTheCall() {
		CompletableFuture<LockHandle> waiting = waitsTwoSecondsForTheFirst();
		this.fixture.time.advance(WAIT);
		failure(waiting)
			.isInstanceOfSatisfying(LockNotAcquiredException.class,
					(failure) -> assertThat(failure.waited()).isEqualTo(WAIT))
			.hasMessageContainingAll("'stock:2'", "within 8s", "wait 8s");
	}

	@Test
	void holdsOfSeveralLocksNameTheWaitOfTheCall() {
		CompletableFuture<LockHandle> waiting = waitsTwoSecondsForTheFirst();
		this.backend.freedByAnother(SECOND);
		assertThat(waiting.join().parts()).hasSize(2)
			.allSatisfy((part) -> assertThat(part.toString()).contains("wait 8s"));
		waiting.join().close();
		this.fixture.assertNothingLeft();
	}

	private CompletableFuture<LockHandle> waitsTwoSecondsForTheFirst() {
		this.backend.heldByAnother(FIRST);
		this.backend.heldByAnother(SECOND);
		CompletableFuture<LockHandle> waiting = this.fixture
			.acquire(LockRequest.forLocks(List.of(FIRST, SECOND)).waitTime(WAIT));
		this.fixture.time.advance(Duration.ofSeconds(2));
		this.backend.freedByAnother(FIRST);
		return waiting;
	}

	/** The message does not report the missing answer to the last attempt instead. */
	@Test
	void reasonGivenByTheBackendIsStated() {
		LockBackendException reason = new LockBackendException("0 of 1 replicas have it. Connect the replicas.");
		this.backend.acquires
			.add((claim) -> CompletableFuture.completedFuture(new AcquireResult.Indeterminate(reason)));
		for (int i = 0; i < 20; i++) {
			this.backend.acquires.add((claim) -> new CompletableFuture<>());
		}
		CompletableFuture<LockHandle> waiting = this.fixture.acquire(request().waitTime(WAIT));
		this.fixture.time.advance(WAIT.plusSeconds(1));
		failure(waiting).isInstanceOf(LockBackendException.class)
			.hasMessageContaining("did not confirm whether it granted the lock")
			.hasMessageEndingWith("The last attempt failed: 0 of 1 replicas have it. Connect the replicas.")
			.hasCause(reason);
	}

	@Test
	void lockIsNamedOnceInAnUnknownOutcome() {
		LockBackendException reason = new LockBackendException(
				"Lock '%s' could not be acquired: 2 nodes must agree. Check the nodes.".formatted(LOCK));
		this.backend.acquires
			.add((claim) -> CompletableFuture.completedFuture(new AcquireResult.Indeterminate(reason)));
		failure(this.fixture.acquire(request().waitTime(Duration.ZERO))).hasMessageStartingWith("Lock '%s' ", LOCK)
			.hasMessageEndingWith(
					"The last attempt failed: the lock could not be acquired: 2 nodes must agree. Check the nodes.");
	}

	/** A pool reports it in this way, and then nothing was asked. */
	@Test
	void interruptedAttemptIsNoFailureOfTheStore() {
		this.backend.acquires.add((claim) -> CompletableFuture.completedFuture(new AcquireResult.Indeterminate(
				new IllegalStateException("no connection", new InterruptedException()))));
		failure(this.fixture.acquire(request().waitTime(Duration.ZERO))).isInstanceOf(LockNotAcquiredException.class)
			.hasMessageContaining("the caller was interrupted or cancelled");
		this.fixture.assertNothingLeft();
	}

	@Test
	void callersBehindAnInterruptedOneAreRefused() {
		this.backend.heldByAnother(LOCK);
		this.backend.acquires.add((claim) -> CompletableFuture
			.completedFuture(new AcquireResult.Indeterminate(new InterruptedException())));
		CompletableFuture<LockHandle> front = this.fixture.acquire(request().waitTime(WAIT));
		failure(this.fixture.acquire(request().waitTime(Duration.ZERO))).isInstanceOf(LockNotAcquiredException.class);
		front.cancel(false);
		failure(this.fixture.acquire(request().waitTime(Duration.ZERO))).isInstanceOf(LockNotAcquiredException.class);
		this.backend.freedByAnother(LOCK);
		this.fixture.assertNothingLeft();
	}

	/** The store has refused the claim, and the end of the wait cuts the retry short. */
	@Test
	void retryAtTheEndOfTheWaitIsNoFailureOfTheStore() {
		this.backend.heldByAnother(LOCK);
		CompletableFuture<LockHandle> waiting = this.fixture.acquire(request().waitTime(Duration.ofMillis(1_500)));
		this.backend.acquires.add((claim) -> new CompletableFuture<>());
		this.fixture.time.advance(Duration.ofSeconds(2));
		failure(waiting).isInstanceOf(LockNotAcquiredException.class)
			.hasMessageContainingAll("another holder kept it", "2 attempts");
		this.backend.freedByAnother(LOCK);
		this.fixture.assertNothingLeft();
	}

	@Test
	void messageNamesThePendingReleaseOfThisJvm() {
		this.backend.releases.add((grant) -> new CompletableFuture<>());
		this.fixture.acquired(request()).close();
		CompletableFuture<LockHandle> waiting = this.fixture.acquire(request().waitTime(Duration.ofMillis(500)));
		this.fixture.time.advance(Duration.ofMillis(500));
		failure(waiting).hasMessageContainingAll("the store has not confirmed its release by this JVM",
				"check that the store is reachable");
		this.fixture.time.advance(WAIT);
		this.fixture.assertNothingLeft();
	}

	/** They would not get a response either, and the lock may have no holder. */
	@Test
	void callersBehindAnUnansweredClaimFailAsItDoes() {
		for (int i = 0; i < 20; i++) {
			this.backend.acquires.add((claim) -> new CompletableFuture<>());
		}
		CompletableFuture<LockHandle> front = this.fixture.acquire(request().waitTime(WAIT));
		CompletableFuture<LockHandle> behind = this.fixture.acquire(request().waitTime(WAIT.minusSeconds(1)));
		failure(this.fixture.acquire(request().waitTime(Duration.ZERO))).isInstanceOf(LockNotAcquiredException.class);
		this.fixture.time.advance(Duration.ofSeconds(2));
		failure(this.fixture.acquire(request().waitTime(Duration.ZERO))).isInstanceOf(LockBackendException.class)
			.hasMessageContainingAll("has not answered", "Check that the store is reachable");
		this.fixture.time.advance(WAIT.minusSeconds(3));
		failure(behind).isInstanceOf(LockBackendException.class)
			.hasMessageContainingAll("within 7s", "has not answered");
		this.fixture.time.advance(Duration.ofSeconds(2));
		failure(front).isInstanceOf(LockBackendException.class);
		this.fixture.time.advance(WAIT);
		this.fixture.assertNothingLeft();
	}

	/** Each leaves before the next one, which is admitted without time. */
	@Test
	void callersThatTimeOutTogetherWithTheOneInFrontFailAsItDoes() {
		this.backend.acquires.add((claim) -> new CompletableFuture<>());
		CompletableFuture<LockHandle> front = this.fixture.acquire(request().waitTime(WAIT));
		CompletableFuture<LockHandle> next = this.fixture.acquire(request().waitTime(WAIT));
		CompletableFuture<LockHandle> last = this.fixture.acquire(request().waitTime(WAIT));
		this.fixture.time.pause(WAIT);
		this.fixture.time.advance(WAIT);
		failure(front).isInstanceOf(LockBackendException.class);
		failure(next).isInstanceOf(LockBackendException.class).hasMessageContaining("has not answered");
		failure(last).isInstanceOf(LockBackendException.class).hasMessageContaining("has not answered");
		this.fixture.assertNothingLeft();
	}

	/**
	 * The store responds, but cannot grant the lock: nodes without a vote, for example.
	 */
	@Test
	void callersBehindAClaimThatFailsNameTheReasonOfTheBackend() {
		LockBackendException reason = new LockBackendException(
				"Lock '%s' could not be acquired: the nodes may not vote. Wait.".formatted(LOCK));
		for (int i = 0; i < 20; i++) {
			this.backend.acquires
				.add((claim) -> CompletableFuture.completedFuture(new AcquireResult.Indeterminate(reason)));
		}
		CompletableFuture<LockHandle> front = this.fixture.acquire(request().waitTime(WAIT));
		CompletableFuture<LockHandle> behind = this.fixture.acquire(request().waitTime(WAIT));
		CompletableFuture<LockHandle> last = this.fixture.acquire(request().waitTime(WAIT));
		this.fixture.time.pause(WAIT);
		this.fixture.time.advance(WAIT);
		failure(front).hasMessageEndingWith("the lock could not be acquired: the nodes may not vote. Wait.");
		for (CompletableFuture<LockHandle> other : List.of(behind, last)) {
			failure(other).isInstanceOf(LockBackendException.class)
				.hasCause(reason)
				.hasMessageContainingAll("of another caller in this JVM", "Nothing was requested for this call.")
				.hasMessageEndingWith("the lock could not be acquired: the nodes may not vote. Wait.");
		}
		this.backend.acquires.clear();
		this.fixture.assertNothingLeft();
	}

	/** The store has answered: a database rejects the connection, for example. */
	@Test
	void callersBehindAClaimThatFailsNameAnyFailureOfTheStore() {
		Exception failure = new IllegalStateException("too many connections");
		for (int i = 0; i < 20; i++) {
			this.backend.acquires
				.add((claim) -> CompletableFuture.completedFuture(new AcquireResult.Indeterminate(failure)));
		}
		CompletableFuture<LockHandle> front = this.fixture.acquire(request().waitTime(WAIT));
		CompletableFuture<LockHandle> behind = this.fixture.acquire(request().waitTime(WAIT));
		this.fixture.time.pause(WAIT);
		this.fixture.time.advance(WAIT);
		failure(front).hasCause(failure).hasMessageContaining("too many connections");
		failure(behind).hasCause(failure)
			.hasMessageContainingAll("has not confirmed the request of another caller in this JVM",
					"too many connections", "Check that the store is reachable");
		this.backend.acquires.clear();
		this.fixture.assertNothingLeft();
	}

	@Test
	void callersBehindAClaimThatIsAnsweredAgainAreRefused() {
		this.backend.acquires.add((claim) -> new CompletableFuture<>());
		CompletableFuture<LockHandle> front = this.fixture.acquire(request().waitTime(WAIT));
		this.fixture.time.advance(Duration.ofSeconds(2));
		assertThat(front).isCompleted();
		failure(this.fixture.acquire(request().waitTime(Duration.ZERO))).isInstanceOf(LockNotAcquiredException.class);
		front.join().close();
		this.fixture.assertNothingLeft();
	}

	/** The caller in front is the next holder, so the pending release ends no wait. */
	@Test
	void callerThatDoesNotWaitIsRefusedBehindOneThatAwaitsARelease() {
		LockHandle handle = this.fixture.acquired(request());
		CompletableFuture<LockHandle> next = this.fixture
			.acquire(request().leaseTime(Duration.ofSeconds(3)).waitTime(WAIT));
		this.backend.releases.add((grant) -> new CompletableFuture<>());
		handle.close();
		assertThat(next).isNotDone();
		assertThat(this.fixture.acquire(request().waitTime(Duration.ZERO))).isCompletedExceptionally();
		this.fixture.time.advance(WAIT);
		next.join().close();
		this.fixture.assertNothingLeft();
	}

	@Test
	void messageNamesTheLocalHolder() {
		LockHandle handle = this.fixture.acquired(request());
		CompletableFuture<LockHandle> waiting = this.fixture.acquire(request().waitTime(WAIT));
		this.fixture.time.advance(WAIT);
		failure(waiting).hasMessageContaining("another caller in this JVM kept it");
		assertThat(this.backend.owners).containsKey(LOCK);
		handle.close();
		this.fixture.assertNothingLeft();
	}

	/** Another thread may hold that lock and wait for the lock of this one. */
	@Test
	void messageNamesTheLockThatTheThreadHolds() {
		this.backend.heldByAnother(FIRST);
		LockRequest refused = LockRequest.forLock(FIRST).waitTime(Duration.ZERO).build();
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> this.fixture.engine.acquire(refused))
			.satisfies((failure) -> assertThat(failure.getMessage()).endsWith("or shorten the holder's work."));
		try (LockHandle held = this.fixture.engine.acquire(request().build())) {
			assertThatExceptionOfType(LockNotAcquiredException.class)
				.isThrownBy(() -> this.fixture.engine.acquire(refused))
				.withMessageContaining("This thread holds '%s'.", held.lock());
		}
		this.backend.freedByAnother(FIRST);
		this.fixture.assertNothingLeft();
	}

	private static AbstractThrowableAssert<?, ?> failure(CompletableFuture<LockHandle> waiting) {
		return assertThat(waiting.<Throwable>handle((locks, failure) -> failure).join());
	}

	/**
	 * At the end of the stack, there may be room to fail, but not to format a message.
	 */
	@Test
	void failureThatCannotBeDescribedKeepsNoLock() {
		this.backend.acquires.add((claim) -> {
			throw new EndOfStack();
		});
		assertThatExceptionOfType(EndOfStack.class).isThrownBy(() -> this.fixture.engine.acquire(request().build()));
		this.fixture.assertNothingLeft();
	}

	/** An error whose message takes more stack than there is. */
	private static final class EndOfStack extends StackOverflowError {

		private static final long serialVersionUID = 1L;

		@Override
		public String getMessage() {
			throw new EndOfStack();
		}

	}

}
