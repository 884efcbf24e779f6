package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockLostEvent;
import io.holdfast.lock.LossCause;
import io.holdfast.lock.spi.BackendCapabilities;
import io.holdfast.lock.spi.Capability;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.spi.TransactionBoundary;

import static io.holdfast.lock.engine.EngineFixture.request;
import static io.holdfast.lock.test.EngineSettingsBuilder.settings;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the loss and the release of a lease between two holders.
 */
class HandoffLossTests extends HandoffCallers {

	/** The late response to a release. */
	private final CompletableFuture<ReleaseResult> releaseAnswer = new CompletableFuture<>();

	private void answerRelease() {
		this.fixture.backend.owners.clear();
		this.releaseAnswer.complete(new ReleaseResult.Released());
		runSteps();
	}

	/** How the lease is lost. */
	enum Lost {

		REVOKED, REFUSED, EXPIRED;

		void lose(EngineFixture fixture) {
			switch (this) {
				case REVOKED -> fixture.backend.revoked.complete(null);
				case REFUSED -> {
					fixture.backend.renewals.add((grant) -> CompletableFuture
						.completedFuture(List.<RenewResult>of(new RenewResult.Refused())));
					fixture.time.advance(LEASE.dividedBy(3));
				}
				case EXPIRED -> {
					fixture.time.pause(LEASE);
					fixture.time.advance(Duration.ZERO);
				}
			}
		}

	}

	@ParameterizedTest
	@EnumSource
	void lostLeaseIsNotPassedOn(Lost how) {
		limit(4, LONG);
		CompletableFuture<LockHandle> first = acquire();
		CompletableFuture<LockHandle> second = acquire(request().waitTime(LONG));
		first.join().close();
		this.fixture.backend.owners.clear();
		how.lose(this.fixture);
		this.fixture.backend.revoked = new CompletableFuture<>();
		runSteps();
		assertThat(second).isCompleted();
		assertThat(second.join().isHeld()).isTrue();
		assertThat(calls()).endsWith("acquire stock:42");
		assertThat(this.fixture.record.handoffs).isZero();
		assertThat(this.fixture.record.losses).as("the last holder may have lost it").hasSize(1);
		close(second);
		this.fixture.assertNothingLeft();
	}

	@Test
	void lossThatTheReleaseOfAnIdleLeaseRevealsIsReported() {
		CompletableFuture<LockHandle> first = acquire();
		CompletableFuture<LockHandle> waiter = acquire();
		first.join().close();
		this.fixture.backend.owners.clear();
		waiter.cancel(true);
		runSteps();
		assertThat(this.fixture.record.losses).extracting(LockLostEvent::cause).containsExactly(LossCause.REFUSED);
		this.fixture.assertNothingLeft();
	}

	@Test
	void lossThatThePreviousHolderNoticesReachesTheNext() {
		CompletableFuture<LockHandle> first = acquire();
		CompletableFuture<LockHandle> second = acquire();
		Lease previous = ((Hold) first.join()).lease();
		close(first);
		previous.store.lose(LossCause.REFUSED);
		assertThat(second.join().isHeld()).isFalse();
		assertThat(this.fixture.record.losses).hasSize(1);
	}

	@Test
	void nextCallerAsksTheStoreAfterTheReleaseIsAnswered() {
		this.fixture.backend.releases.add((grant) -> this.releaseAnswer);
		CompletableFuture<LockHandle> first = acquire();
		CompletableFuture<LockHandle> waiter = acquire();
		first.join().close();
		this.fixture.time.advance(Duration.ofMillis(5));
		runSteps();
		assertThat(calls()).containsExactly("acquire stock:42", "release stock:42");
		answerRelease();
		assertThat(waiter).isCompleted();
		close(waiter);
		assertNothingLeft();
	}

	@Test
	void callerThatDoesNotWaitAwaitsTheReleaseOfAnIdleLease() {
		this.fixture.backend.releases.add((grant) -> this.releaseAnswer);
		CompletableFuture<LockHandle> first = acquire();
		CompletableFuture<LockHandle> waiter = acquire();
		first.join().close();
		waiter.cancel(true);
		runSteps();
		CompletableFuture<LockHandle> hasty = acquire(request().waitTime(Duration.ZERO));
		assertThat(hasty).isNotDone();
		answerRelease();
		assertThat(hasty).isCompleted();
		close(hasty);
		assertNothingLeft();
	}

	@Test
	void errorDuringAHandoffReleasesTheLease() {
		this.fixture.record.failure = new StackOverflowError();
		CompletableFuture<LockHandle> first = acquire();
		CompletableFuture<LockHandle> second = acquire();
		close(first);
		assertThat(second).isCompletedExceptionally();
		assertThat(calls()).containsExactly("acquire stock:42", "release stock:42");
		this.fixture.assertNothingLeft();
	}

	@Test
	void storeWithoutWaitQueueIsAskedAgain() {
		this.fixture.backend.capabilities = new BackendCapabilities(Duration.ofMillis(10), Capability.SHARED);
		CompletableFuture<LockHandle> first = acquire();
		CompletableFuture<LockHandle> second = acquire();
		close(first);
		close(second);
		assertThat(this.fixture.record.handoffs).isZero();
		assertNothingLeft();
	}

	@Test
	void callersThatAwaitTheReleasePassNothingOn() {
		this.fixture = new EngineFixture(settings().awaitRelease(true).build(), TransactionBoundary.NONE,
				this.steps::add);
		CompletableFuture<LockHandle> first = acquire();
		CompletableFuture<LockHandle> second = acquire();
		close(first);
		close(second);
		assertThat(this.fixture.record.handoffs).isZero();
		assertNothingLeft();
	}

	@ParameterizedTest
	@EnumSource
	void nextHolderLosesTheLease(Lost how) {
		limit(4, LONG);
		CompletableFuture<LockHandle> first = acquire();
		CompletableFuture<LockHandle> second = acquire();
		close(first);
		how.lose(this.fixture);
		assertThat(second.join().isHeld()).isFalse();
		assertThat(this.fixture.record.losses).extracting(LockLostEvent::cause)
			.containsExactly(LossCause.valueOf(how.name()));
	}

	/** Its place is taken until the lease that came with its admission has ended. */
	@Test
	void callerThatGivesUpAfterItsAdmissionSendsNothing() {
		this.fixture.backend.releases.add((grant) -> this.releaseAnswer);
		CompletableFuture<LockHandle> first = acquire();
		CompletableFuture<LockHandle> waiter = acquire();
		this.fixture.time.pause(Duration.ofMillis(1));
		waiter.cancel(false);
		first.join().close();
		runSteps();
		assertThat(calls()).containsExactly("acquire stock:42", "release stock:42");
		this.fixture.backend.owners.clear();
		this.releaseAnswer.complete(new ReleaseResult.Released());
		assertNothingLeft();
	}

}
