package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockLostEvent;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.LockState;
import io.holdfast.lock.LossCause;
import io.holdfast.lock.spi.Capability;
import io.holdfast.lock.spi.OwnerId;

import static io.holdfast.lock.engine.EngineFixture.LOCK;
import static io.holdfast.lock.engine.EngineFixture.request;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the turns of a JVM with a lease, which follow each other while no claim of
 * another JVM waits.
 */
class HandoffTurnTests extends HandoffCallers {

	private static final String[] ONE_LEASE = { "acquire stock:42", "release stock:42" };

	private static final String[] TWO_LEASES = { "acquire stock:42", "release stock:42", "acquire stock:42",
			"release stock:42" };

	/** Four holds fit into a turn, and half of its time is over after two. */
	private static final Duration TURN = Duration.ofMillis(7);

	private static final Duration HOLD = Duration.ofMillis(2);

	private LockState waiters(Integer waiters) {
		OwnerId owner = this.fixture.backend.owners.get(LOCK);
		return new LockState(LOCK, "fake",
				List.of(new LockState.Holder(owner.value(), LockMode.EXCLUSIVE, new FencingToken(1), null)), waiters);
	}

	/** Each of these handles belongs to a caller that waits, except the first one. */
	private List<CompletableFuture<LockHandle>> callers(int count) {
		return Stream.generate(() -> acquire(request().waitTime(LONG))).limit(count).toList();
	}

	private void use(List<CompletableFuture<LockHandle>> handles) {
		for (CompletableFuture<LockHandle> handle : handles) {
			assertThat(handle).isCompleted();
			this.fixture.time.advance(HOLD);
			close(handle);
		}
	}

	private static String lease(CompletableFuture<LockHandle> handle) {
		return handle.join().ownerId();
	}

	@Test
	void nextTurnFollowsWhileNoClaimWaits() {
		limit(64, TURN);
		this.fixture.backend.waiters = 0;
		List<CompletableFuture<LockHandle>> handles = callers(21);
		use(handles);
		assertThat(calls()).containsExactly(ONE_LEASE);
		assertThat(this.fixture.backend.finds).isEqualTo(10);
		assertThat(handles.stream().map((handle) -> handle.join().fencingToken())).isSorted().doesNotHaveDuplicates();
		assertNothingLeft();
	}

	@Test
	void nextTurnBeginsWhenTheStoreIsAsked() {
		limit(64, TURN);
		CompletableFuture<LockState> late = new CompletableFuture<>();
		this.fixture.backend.lookups.add(late);
		List<CompletableFuture<LockHandle>> handles = callers(9);
		use(handles.subList(0, 3));
		this.fixture.backend.lookups.add(CompletableFuture.completedFuture(waiters(1)));
		late.complete(waiters(0));
		use(handles.subList(3, 9));
		assertThat(calls()).containsExactly(TWO_LEASES);
		assertThat(lease(handles.get(5))).isEqualTo(lease(handles.get(0)));
		assertThat(lease(handles.get(6))).isNotEqualTo(lease(handles.get(0)));
		assertNothingLeft();
	}

	@Test
	void nextTurnHasItsOwnNumberOfHolders() {
		limit(3, TURN);
		this.fixture.backend.waiters = 0;
		List<CompletableFuture<LockHandle>> handles = callers(9);
		use(handles);
		assertThat(calls()).containsExactly(ONE_LEASE);
		assertNothingLeft();
	}

	@Test
	void turnThatEndsBeforeHalfOfItsTimeIsTheLast() {
		limit(3, TURN);
		this.fixture.backend.waiters = 0;
		callers(4).forEach(this::close);
		assertThat(calls()).containsExactly(TWO_LEASES);
		assertThat(this.fixture.backend.finds).isZero();
		assertNothingLeft();
	}

	@ParameterizedTest
	@EnumSource
	void turnIsTheLastUnlessNoClaimIsKnownToWait(Answer answer) {
		limit(64, TURN);
		List<CompletableFuture<LockHandle>> handles = callers(6);
		this.fixture.backend.lookups.add(answer.of(this));
		use(handles);
		assertThat(calls()).containsExactly(TWO_LEASES);
		assertThat(lease(handles.get(3))).isEqualTo(lease(handles.get(0)));
		assertNothingLeft();
	}

	@Test
	void leaseThatTheStoreDoesNotNameEndsWithItsHolder() {
		limit(64, TURN);
		List<CompletableFuture<LockHandle>> handles = callers(6);
		CompletableFuture<LockState> asked = new CompletableFuture<>();
		this.fixture.backend.lookups.add(asked);
		use(handles.subList(0, 2));
		asked.complete(new LockState(LOCK, "fake", List.of(), 0));
		this.fixture.time.advance(Duration.ZERO);
		assertThat(calls()).containsExactly("acquire stock:42", "renew");
		use(handles.subList(2, 6));
		assertThat(lease(handles.get(2))).isEqualTo(lease(handles.get(0)));
		assertThat(lease(handles.get(3))).isNotEqualTo(lease(handles.get(0)));
		assertNothingLeft();
	}

	@Test
	void idleLeaseThatTheStoreDoesNotNameIsLostByItsLastHolder() {
		limit(64, TURN);
		List<CompletableFuture<LockHandle>> handles = callers(2);
		CompletableFuture<LockState> asked = new CompletableFuture<>();
		this.fixture.backend.lookups.add(asked);
		this.fixture.time.advance(Duration.ofMillis(4));
		handles.get(0).join().close();
		this.fixture.backend.heldByAnother(LOCK);
		asked.complete(new LockState(LOCK, "fake", List.of(), 0));
		assertThat(this.fixture.record.losses).extracting(LockLostEvent::cause).containsExactly(LossCause.REFUSED);
		runSteps();
		assertThat(handles.get(1)).isNotDone();
	}

	@Test
	void idleLeaseIsReleasedAtTheEndOfTheNextTurn() {
		limit(64, TURN);
		this.fixture.backend.waiters = 0;
		List<CompletableFuture<LockHandle>> handles = callers(2);
		this.fixture.time.advance(Duration.ofMillis(4));
		handles.get(0).join().close();
		this.fixture.time.advance(Duration.ofMillis(6));
		assertThat(calls()).containsExactly("acquire stock:42");
		this.fixture.time.advance(Duration.ofMillis(1));
		assertThat(calls()).containsExactly(ONE_LEASE);
		runSteps();
		close(handles.get(1));
		assertNothingLeft();
	}

	@Test
	void leaseServesNoMoreHoldersThanATokenTellsApart() {
		limit(EngineSettings.Handoff.MOST_HOLDS, TURN);
		this.fixture.backend.waiters = 0;
		List<CompletableFuture<LockHandle>> handles = callers(EngineSettings.Handoff.MOST_HOLDS + 1);
		for (CompletableFuture<LockHandle> handle : handles) {
			this.fixture.time.advance(Duration.ofMillis(1));
			close(handle);
		}
		assertThat(calls()).containsExactly(TWO_LEASES);
		assertThat(handles.stream().map((handle) -> handle.join().fencingToken())).isSorted().doesNotHaveDuplicates();
	}

	@Test
	void contendedLeaseHasOneTurn() {
		limit(64, TURN);
		this.fixture.backend.waiters = 0;
		this.fixture.backend.heldByAnother(LOCK);
		List<CompletableFuture<LockHandle>> handles = callers(5);
		this.fixture.backend.freedByAnother(LOCK);
		runSteps();
		use(handles);
		assertThat(calls()).containsExactly("acquire stock:42", "acquire stock:42", "release stock:42",
				"acquire stock:42", "release stock:42");
		assertThat(this.fixture.backend.finds).isZero();
		assertNothingLeft();
	}

	/** The steps of this caller run on the thread of the test, which may block. */
	private void useByThread(Runnable beforeClose) {
		this.fixture.backend.capabilities = FakeBackend.capableOf(Capability.BLOCKING);
		this.fixture.backend.waiters = 0;
		LockHandle handle = this.fixture.engine.acquire(request().build());
		beforeClose.run();
		this.fixture.time.advance(HOLD.multipliedBy(2));
		handle.close();
		runSteps();
	}

	@Test
	void threadThatPassesTheLeaseOnAsksABlockingStore() {
		limit(64, TURN);
		this.fixture.backend.findsOnCaller = true;
		List<CompletableFuture<LockHandle>> waiting = new ArrayList<>();
		useByThread(() -> waiting.addAll(callers(4)));
		assertThat(this.fixture.backend.finds).isOne();
		use(waiting);
		assertThat(calls()).containsExactly(ONE_LEASE);
		assertThat(this.fixture.backend.finds).isOne();
		assertNothingLeft();
	}

	/** Returns a hold of two locks, the second of which another caller waits for. */
	private LockHandle twoLocksOfABlockingStore() {
		limit(64, TURN);
		FakeBackend backend = this.fixture.backend;
		backend.findsOnCaller = true;
		backend.releasesOnCaller = true;
		backend.capabilities = FakeBackend.capableOf(Capability.BLOCKING);
		LockName other = LockName.of("stock", "43");
		LockHandle both = this.fixture.engine.acquire(LockRequest.forLocks(List.of(LOCK, other)).build());
		acquire(LockRequest.forLock(other).waitTime(LONG));
		return both;
	}

	/** A question may block for as long as the pool has no connection. */
	@Test
	void blockingStoreReleasesOtherLocksBeforeItIsAsked() {
		LockHandle both = twoLocksOfABlockingStore();
		FakeBackend backend = this.fixture.backend;
		List<Integer> findsBefore = new ArrayList<>();
		backend.releases.add((grant) -> {
			findsBefore.add(backend.finds);
			return CompletableFuture.completedFuture(backend.free(grant.claim()));
		});
		this.fixture.time.advance(HOLD.multipliedBy(2));
		both.close();
		assertThat(findsBefore).containsExactly(0);
		assertThat(backend.finds).isOne();
	}

	/** The release of another lock may have waited for a connection meanwhile. */
	@Test
	void blockingStoreIsNotAskedForATurnThatIsOver() {
		LockHandle both = twoLocksOfABlockingStore();
		FakeBackend backend = this.fixture.backend;
		backend.releases.add((grant) -> {
			this.fixture.time.advance(TURN);
			return CompletableFuture.completedFuture(backend.free(grant.claim()));
		});
		this.fixture.time.advance(HOLD.multipliedBy(2));
		both.close();
		runSteps();
		assertThat(calls()).endsWith("release stock:43", "acquire stock:43");
		assertThat(backend.finds).isZero();
	}

	@Test
	void blockingStoreThatObjectsIsNotAsked() {
		limit(64, TURN);
		List<CompletableFuture<LockHandle>> waiting = new ArrayList<>();
		useByThread(() -> waiting.addAll(callers(3)));
		use(waiting);
		assertThat(calls()).containsExactly(TWO_LEASES);
		assertThat(this.fixture.backend.finds).isZero();
		assertNothingLeft();
	}

	@Test
	void interruptedThreadDoesNotAskABlockingStore() {
		limit(64, TURN);
		this.fixture.backend.findsOnCaller = true;
		List<CompletableFuture<LockHandle>> waiting = new ArrayList<>();
		useByThread(() -> {
			waiting.addAll(callers(1));
			Thread.currentThread().interrupt();
		});
		assertThat(Thread.interrupted()).isTrue();
		use(waiting);
		assertThat(this.fixture.backend.finds).isZero();
		assertNothingLeft();
	}

	@Test
	void holdOfNoThreadDoesNotAskABlockingStore() {
		limit(64, TURN);
		this.fixture.backend.capabilities = FakeBackend.capableOf(Capability.BLOCKING);
		this.fixture.backend.findsOnCaller = true;
		this.fixture.backend.waiters = 0;
		use(callers(5));
		assertThat(calls()).containsExactly(TWO_LEASES);
		assertThat(this.fixture.backend.finds).isZero();
		assertNothingLeft();
	}

	/**
	 * An answer that begins no further turn.
	 */
	enum Answer {

		ONE_WAITS, UNKNOWN, FAILED, MISSING, NONE;

		CompletionStage<LockState> of(HandoffTurnTests test) {
			return switch (this) {
				case ONE_WAITS -> CompletableFuture.completedFuture(test.waiters(1));
				case UNKNOWN -> CompletableFuture.completedFuture(test.waiters(null));
				case FAILED -> CompletableFuture.failedFuture(new IllegalStateException("unreachable"));
				case MISSING -> CompletableFuture.completedFuture(null);
				case NONE -> new CompletableFuture<>();
			};
		}

	}

}
