package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockLostEvent;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.LossCause;
import io.holdfast.lock.spi.TransactionBoundary;

import static io.holdfast.lock.engine.EngineFixture.LOCK;
import static io.holdfast.lock.engine.EngineFixture.request;
import static io.holdfast.lock.test.EngineSettingsBuilder.settings;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for leases that pass from one holder to the next without a request to the store.
 */
class HandoffTests extends HandoffCallers {

	@Test
	void waiterTakesTheLeaseOverWithAGreaterToken() {
		CompletableFuture<LockHandle> first = acquire();
		CompletableFuture<LockHandle> second = acquire();
		CompletableFuture<LockHandle> third = acquire();
		close(first);
		assertThat(second).isCompleted();
		assertThat(third).isNotDone();
		close(second);
		close(third);
		assertThat(Stream.of(first, second, third).map((handle) -> handle.join().fencingToken())).isSorted()
			.doesNotHaveDuplicates();
		assertThat(calls()).containsExactly("acquire stock:42", "release stock:42");
		assertThat(this.fixture.record.handoffs).isEqualTo(2);
		assertThat(this.fixture.record.holds).hasSize(3);
		assertNothingLeft();
	}

	@Test
	void runningCallerTakesTheLeaseBeforeAWaiterHasWokenUp() {
		CompletableFuture<LockHandle> first = acquire();
		CompletableFuture<LockHandle> waiter = acquire();
		first.join().close();
		CompletableFuture<LockHandle> running = this.fixture.acquire(request());
		this.steps.addFirst(this.steps.removeLast());
		runSteps();
		assertThat(running).isCompleted();
		assertThat(waiter).isNotDone();
		close(running);
		close(waiter);
		assertThat(calls()).containsExactly("acquire stock:42", "release stock:42");
		assertNothingLeft();
	}

	@Test
	void leaseServesALimitedNumberOfHolds() {
		limit(2, LONG);
		List<CompletableFuture<LockHandle>> handles = Stream.generate(this::acquire).limit(5).toList();
		handles.forEach(this::close);
		assertThat(calls()).containsExactly("acquire stock:42", "release stock:42", "acquire stock:42",
				"release stock:42", "acquire stock:42", "release stock:42");
		assertThat(handles.stream().map((handle) -> handle.join().fencingToken())).isSorted().doesNotHaveDuplicates();
		assertNothingLeft();
	}

	@Test
	void leaseIsPassedOnForALimitedTime() {
		CompletableFuture<LockHandle> first = acquire();
		CompletableFuture<LockHandle> second = acquire();
		this.fixture.time.advance(Duration.ofMillis(5));
		close(first);
		assertThat(second).isCompleted();
		assertThat(calls()).containsExactly("acquire stock:42", "release stock:42", "acquire stock:42");
		close(second);
		assertNothingLeft();
	}

	@Test
	void leaseIsReleasedIfTheWaiterDoesNotWakeUpInTime() {
		CompletableFuture<LockHandle> first = acquire();
		CompletableFuture<LockHandle> waiter = acquire();
		first.join().close();
		this.fixture.time.advance(Duration.ofMillis(5));
		assertThat(calls()).containsExactly("acquire stock:42", "release stock:42");
		runSteps();
		assertThat(waiter).isCompleted();
		assertThat(calls()).containsExactly("acquire stock:42", "release stock:42", "acquire stock:42");
		close(waiter);
		assertNothingLeft();
	}

	@Test
	void leaseIsReleasedWhenTheLastWaiterGivesUp() {
		CompletableFuture<LockHandle> first = acquire();
		CompletableFuture<LockHandle> waiter = acquire();
		CompletableFuture<LockHandle> other = acquire();
		first.join().close();
		waiter.cancel(true);
		other.cancel(true);
		runSteps();
		assertThat(calls()).containsExactly("acquire stock:42", "release stock:42");
		assertNothingLeft();
	}

	@Test
	void waiterThatGivesUpLeavesTheLeaseToTheNext() {
		CompletableFuture<LockHandle> first = acquire();
		CompletableFuture<LockHandle> waiter = acquire(request().waitTime(Duration.ofMillis(2)));
		CompletableFuture<LockHandle> next = acquire();
		this.fixture.time.pause(Duration.ofMillis(3));
		first.join().close();
		runSteps();
		assertThat(waiter).isCompletedExceptionally();
		assertThat(next).isCompleted();
		assertThat(calls()).containsExactly("acquire stock:42");
		close(next);
		assertNothingLeft();
	}

	@Test
	void minHoldEndsBeforeTheLeaseIsPassedOn() {
		limit(4, LONG);
		CompletableFuture<LockHandle> first = acquire(request().minHold(Duration.ofSeconds(2)));
		CompletableFuture<LockHandle> second = acquire(request().minHold(Duration.ofSeconds(2)));
		close(first);
		this.fixture.time.advance(Duration.ofSeconds(1));
		runSteps();
		assertThat(second).isNotDone();
		this.fixture.time.advance(Duration.ofSeconds(1));
		runSteps();
		assertThat(second).isCompleted();
		close(second);
		this.fixture.time.advance(Duration.ofSeconds(1));
		assertThat(this.fixture.backend.owners).containsKey(LOCK);
		this.fixture.time.advance(Duration.ofSeconds(1));
		assertThat(calls()).containsExactly("acquire stock:42", "release stock:42");
		assertNothingLeft();
	}

	@ParameterizedTest
	@EnumSource
	void unsuitedCallersAskTheStore(Unsuited unsuited) {
		CompletableFuture<LockHandle> first = acquire();
		CompletableFuture<LockHandle> second = acquire(unsuited.request());
		CompletableFuture<LockHandle> third = acquire();
		close(first);
		close(second);
		close(third);
		assertThat(calls()).containsExactly("acquire stock:42", "release stock:42", "acquire stock:42",
				"release stock:42", "acquire stock:42", "release stock:42");
		assertNothingLeft();
	}

	/** It has its place in the order of the store, before callers that come later. */
	@Test
	void fairCallerAsksTheStoreAtOnce() {
		CompletableFuture<LockHandle> first = acquire();
		CompletableFuture<LockHandle> second = acquire(EngineFixture.request().fair(true));
		assertThat(calls()).containsExactly("acquire stock:42", "acquire stock:42");
		close(first);
		this.fixture.time.advance(Duration.ofSeconds(2));
		runSteps();
		assertThat(second).isCompleted();
		close(second);
		assertThat(calls()).containsExactly("acquire stock:42", "acquire stock:42", "release stock:42",
				"acquire stock:42", "release stock:42");
		assertNothingLeft();
	}

	@Test
	void sharedHoldersPassNothingOn() {
		CompletableFuture<LockHandle> reader = acquire(LockRequest.forLock(LOCK).mode(LockMode.SHARED));
		CompletableFuture<LockHandle> other = acquire(LockRequest.forLock(LOCK).mode(LockMode.SHARED));
		assertThat(other).isCompleted();
		close(reader);
		close(other);
		assertThat(this.fixture.record.handoffs).isZero();
	}

	@Test
	void leaseOfAnOverdueRenewalIsNotPassedOn() {
		limit(4, LONG);
		this.fixture.backend.renewals.add((grant) -> new CompletableFuture<>());
		CompletableFuture<LockHandle> first = acquire();
		CompletableFuture<LockHandle> second = acquire(request().waitTime(LONG));
		this.fixture.time.pause(LEASE.dividedBy(2));
		close(first);
		assertThat(second).isCompleted();
		assertThat(this.fixture.record.handoffs).isZero();
	}

	@Test
	void maxHoldCountsForEachHolder() {
		limit(4, LONG);
		Duration maxHold = LEASE;
		CompletableFuture<LockHandle> first = acquire(request().maxHold(maxHold));
		CompletableFuture<LockHandle> second = acquire(request().maxHold(maxHold).waitTime(LONG));
		this.fixture.time.advance(LEASE.minusSeconds(1));
		close(first);
		this.fixture.time.advance(LEASE.minusSeconds(1));
		assertThat(second.join().remainingValidity()).isGreaterThan(LEASE.dividedBy(2));
		this.fixture.time.advance(LEASE.multipliedBy(2));
		assertThat(this.fixture.record.losses).extracting(LockLostEvent::cause).containsExactly(LossCause.MAX_HOLD);
	}

	@Test
	void closingEngineReleasesAnIdleLease() {
		// no step runs while the engine closes, so it would wait in vain
		this.fixture = new EngineFixture(settings().shutdownTimeout(Duration.ZERO).build(), TransactionBoundary.NONE,
				this.steps::add);
		CompletableFuture<LockHandle> first = acquire();
		CompletableFuture<LockHandle> second = acquire();
		first.join().close();
		this.fixture.engine.close();
		runSteps();
		assertThat(second).isCompletedExceptionally();
		assertThat(calls()).startsWith("acquire stock:42", "release stock:42");
		this.fixture.assertNothingLeft();
	}

}
