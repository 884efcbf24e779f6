package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import reactor.core.scheduler.Schedulers;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockLostEvent;
import io.holdfast.lock.LockLostException;
import io.holdfast.lock.LossCause;
import io.holdfast.lock.spi.ManagedHold;
import io.holdfast.lock.spi.ManagedHold.Checkpoint;

import static io.holdfast.lock.engine.EngineFixture.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

/**
 * Tests for checks of a valid hold while its store is in doubt about it.
 */
class HoldInDoubtTests {

	private static final Duration BOUND = Duration.ofSeconds(15);

	private final EngineFixture fixture = new EngineFixture();

	private final CompletableFuture<Boolean> word = new CompletableFuture<>();

	/** Runs a check on its own thread and returns once it waits for the store. */
	private CompletableFuture<Void> waiting(Runnable check) {
		this.fixture.backend.confirmation = this.word;
		int planned = this.fixture.time.planned();
		CompletableFuture<Void> checked = CompletableFuture.runAsync(check, (task) -> new Thread(task).start());
		Awaitility.await().atMost(BOUND).until(() -> this.fixture.time.planned() > planned);
		assertThat(checked).isNotDone();
		return checked;
	}

	@Test
	void checkWaitsForTheConfirmation() {
		LockHandle handle = this.fixture.acquired(request());
		CompletableFuture<Void> check = waiting(handle::assertHeld);
		CompletableFuture<Void> commit = waiting(() -> ((ManagedHold) handle).verify(Checkpoint.COMMIT));
		this.word.complete(true);
		assertThat(check).succeedsWithin(BOUND);
		assertThat(commit).succeedsWithin(BOUND);
		assertThat(this.fixture.record.refusedCommits).isZero();
		handle.close();
		this.fixture.assertNothingLeft();
	}

	@Test
	void holdDeniedByTheStoreIsLost() {
		LockHandle handle = this.fixture.acquired(request());
		CompletableFuture<Void> commit = waiting(() -> ((ManagedHold) handle).verify(Checkpoint.COMMIT));
		this.word.complete(false);
		assertThatExceptionOfType(CompletionException.class).isThrownBy(commit::join)
			.withCauseInstanceOf(LockLostException.class)
			.withMessageContaining("this holder no longer owns the lease")
			.withMessageContaining("The commit was refused");
		assertThat(this.fixture.record.losses).extracting(LockLostEvent::cause).containsExactly(LossCause.REFUSED);
		assertThat(this.fixture.record.refusedCommits).isOne();
	}

	@Test
	void holdIsLostWhenItsValidityEndsDuringTheWait() {
		LockHandle handle = this.fixture.acquired(request().renew(false));
		CompletableFuture<Void> check = waiting(handle::assertHeld);
		this.fixture.time.advance(Duration.ofSeconds(30));
		assertThatExceptionOfType(CompletionException.class).isThrownBy(check::join)
			.withCauseInstanceOf(LockLostException.class);
		assertThat(this.fixture.record.losses).extracting(LockLostEvent::cause).containsExactly(LossCause.EXPIRED);
	}

	@Test
	void failFastStoreRefusesTheCommitAndKeepsTheHold() {
		LockHandle handle = this.fixture.acquired(request());
		this.fixture.backend.confirmation = CompletableFuture.failedFuture(new IllegalStateException("cut off"));
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(handle::assertHeld)
			.withMessageContaining("Lock 'stock:42' is in doubt")
			.withMessageContaining("cut off")
			.withMessageContaining("not known to be lost");
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> ((ManagedHold) handle).verify(Checkpoint.COMMIT))
			.withMessageContaining("The commit was refused");
		assertThat(this.fixture.record.refusedCommits).isOne();
		assertThat(handle.isHeld()).isTrue();
		assertThat(this.fixture.record.losses).isEmpty();
		this.fixture.backend.confirmation = FakeBackend.CERTAIN;
		assertThatNoException().isThrownBy(() -> ((ManagedHold) handle).verify(Checkpoint.COMMIT));
	}

	@Test
	void threadThatDeliversTheResponsesDoesNotWait() {
		LockHandle handle = this.fixture.acquired(request());
		this.fixture.backend.confirmation = this.word;
		this.fixture.backend.responseThread = Thread.currentThread();
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(handle::assertHeld)
			.withMessageContaining("this thread delivers its responses and must not wait");
		assertThat(handle.isHeld()).isTrue();
	}

	@Test
	void eventLoopDoesNotWait() {
		LockHandle handle = this.fixture.acquired(request());
		this.fixture.backend.confirmation = this.word;
		CompletableFuture<Void> check = CompletableFuture.runAsync(handle::assertHeld, Schedulers.parallel()::schedule);
		assertThat(check).failsWithin(BOUND)
			.withThrowableThat()
			.withCauseInstanceOf(LockBackendException.class)
			.withMessageContaining("must not block");
		assertThat(handle.isHeld()).isTrue();
	}

	@Test
	void interruptEndsTheWaitAndKeepsTheHold() throws InterruptedException {
		LockHandle handle = this.fixture.acquired(request());
		CountDownLatch interrupted = new CountDownLatch(1);
		Thread[] waiter = new Thread[1];
		CompletableFuture<Void> check = waiting(() -> {
			waiter[0] = Thread.currentThread();
			try {
				handle.assertHeld();
			}
			finally {
				if (Thread.currentThread().isInterrupted()) {
					interrupted.countDown();
				}
			}
		});
		waiter[0].interrupt();
		interrupted.await();
		assertThatExceptionOfType(CompletionException.class).isThrownBy(check::join)
			.withCauseInstanceOf(LockBackendException.class);
		assertThat(handle.isHeld()).isTrue();
	}

	@Test
	void lostHoldRequestsNoConfirmation() {
		LockHandle handle = this.fixture.acquired(request().renew(false));
		this.fixture.time.advance(Duration.ofSeconds(30));
		this.fixture.backend.confirmation = this.word;
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::assertHeld);
	}

	@Test
	void reentryDoesNotWait() {
		this.fixture.backend.confirmation = this.word;
		try (LockHandle outer = this.fixture.engine.acquire(request().build());
				LockHandle inner = this.fixture.engine.acquire(request().build())) {
			assertThat(inner.fencingToken()).isEqualTo(outer.fencingToken());
		}
	}

}
