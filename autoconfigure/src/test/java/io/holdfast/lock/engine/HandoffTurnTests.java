package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockState;
import io.holdfast.lock.spi.Capability;

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

	private static LockState waiters(Integer waiters) {
		return new LockState(LOCK, "fake", List.of(), waiters);
	}

	/** Each of these handles belongs to a caller that waits, except the first one. */
	private List<CompletableFuture<LockHandle>> callers(int count) {
		return Stream.generate(() -> acquire(request().waitTime(LONG))).limit(count).toList();
	}

	@Test
	void nextTurnFollowsWhileNoClaimWaits() {
		limit(4, LONG);
		this.fixture.backend.waiters = 0;
		List<CompletableFuture<LockHandle>> handles = callers(13);
		handles.forEach(this::close);
		assertThat(calls()).containsExactly(ONE_LEASE);
		assertThat(this.fixture.backend.finds).isEqualTo(6);
		assertThat(handles.stream().map((handle) -> handle.join().fencingToken())).isSorted().doesNotHaveDuplicates();
		assertNothingLeft();
	}

	@Test
	void nextTurnBeginsWhenTheStoreIsAsked() {
		limit(4, LONG);
		CompletableFuture<LockState> late = new CompletableFuture<>();
		this.fixture.backend.lookups.add(late);
		List<CompletableFuture<LockHandle>> handles = callers(9);
		handles.subList(0, 3).forEach(this::close);
		late.complete(waiters(0));
		this.fixture.backend.lookups.add(CompletableFuture.completedFuture(waiters(1)));
		handles.subList(3, 9).forEach(this::close);
		assertThat(calls()).containsExactly(TWO_LEASES);
		assertThat(handles.get(5).join().ownerId()).isEqualTo(handles.get(0).join().ownerId());
		assertThat(handles.get(6).join().ownerId()).isNotEqualTo(handles.get(0).join().ownerId());
		assertNothingLeft();
	}

	static Stream<CompletionStage<LockState>> otherAnswers() {
		return Stream.of(CompletableFuture.completedFuture(waiters(1)),
				CompletableFuture.completedFuture(waiters(null)),
				CompletableFuture.failedFuture(new IllegalStateException("unreachable")), new CompletableFuture<>());
	}

	@ParameterizedTest
	@MethodSource("otherAnswers")
	void turnIsTheLastUnlessNoClaimIsKnownToWait(CompletionStage<LockState> answer) {
		limit(4, LONG);
		this.fixture.backend.lookups.add(answer);
		List<CompletableFuture<LockHandle>> handles = callers(5);
		handles.forEach(this::close);
		assertThat(calls()).containsExactly(TWO_LEASES);
		assertNothingLeft();
	}

	@Test
	void nextTurnHasItsOwnTime() {
		limit(64, Duration.ofMillis(6));
		this.fixture.backend.waiters = 0;
		List<CompletableFuture<LockHandle>> handles = callers(5);
		for (CompletableFuture<LockHandle> handle : handles) {
			this.fixture.time.advance(Duration.ofMillis(4));
			close(handle);
		}
		assertThat(calls()).containsExactly(ONE_LEASE);
		assertNothingLeft();
	}

	@Test
	void lastTurnEndsInTime() {
		limit(64, Duration.ofMillis(6));
		this.fixture.backend.lookups.add(CompletableFuture.completedFuture(waiters(0)));
		this.fixture.backend.lookups.add(CompletableFuture.completedFuture(waiters(1)));
		List<CompletableFuture<LockHandle>> handles = callers(4);
		for (CompletableFuture<LockHandle> handle : handles) {
			this.fixture.time.advance(Duration.ofMillis(4));
			close(handle);
		}
		assertThat(calls()).containsExactly(TWO_LEASES);
		assertThat(handles.get(2).join().ownerId()).isEqualTo(handles.get(0).join().ownerId());
		assertNothingLeft();
	}

	@Test
	void idleLeaseIsReleasedAtTheEndOfTheNextTurn() {
		limit(64, Duration.ofMillis(6));
		this.fixture.backend.waiters = 0;
		List<CompletableFuture<LockHandle>> handles = callers(2);
		this.fixture.time.advance(Duration.ofMillis(4));
		handles.get(0).join().close();
		this.fixture.time.advance(Duration.ofMillis(5));
		assertThat(calls()).containsExactly("acquire stock:42");
		this.fixture.time.advance(Duration.ofMillis(1));
		assertThat(calls()).containsExactly(ONE_LEASE);
		runSteps();
		close(handles.get(1));
		assertNothingLeft();
	}

	@Test
	void leaseServesNoMoreHoldersThanATokenTellsApart() {
		limit(EngineSettings.Handoff.MOST_HOLDS, LONG);
		this.fixture.backend.waiters = 0;
		List<CompletableFuture<LockHandle>> handles = callers(EngineSettings.Handoff.MOST_HOLDS + 1);
		handles.forEach(this::close);
		assertThat(calls()).containsExactly(TWO_LEASES);
		assertThat(handles.stream().map((handle) -> handle.join().fencingToken())).isSorted().doesNotHaveDuplicates();
	}

	@Test
	void contendedLeaseHasOneTurn() {
		limit(4, LONG);
		this.fixture.backend.waiters = 0;
		this.fixture.backend.heldByAnother(LOCK);
		List<CompletableFuture<LockHandle>> handles = callers(5);
		this.fixture.backend.freedByAnother(LOCK);
		runSteps();
		handles.forEach(this::close);
		assertThat(calls()).containsExactly("acquire stock:42", "acquire stock:42", "release stock:42",
				"acquire stock:42", "release stock:42");
		assertThat(this.fixture.backend.finds).isZero();
		assertNothingLeft();
	}

	@Test
	void blockingStoreIsNotAsked() {
		limit(4, LONG);
		this.fixture.backend.capabilities = FakeBackend.capableOf(Capability.BLOCKING);
		this.fixture.backend.waiters = 0;
		List<CompletableFuture<LockHandle>> handles = callers(5);
		handles.forEach(this::close);
		assertThat(calls()).containsExactly(TWO_LEASES);
		assertThat(this.fixture.backend.finds).isZero();
		assertNothingLeft();
	}

}
