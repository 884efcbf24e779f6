package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.holdfast.lock.LockLostException;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockNotAcquiredException;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.TransactionBoundary;
import io.holdfast.lock.spi.observation.AcquireOutcome;
import io.holdfast.lock.spi.observation.LockObserver;
import io.holdfast.lock.test.Slow;

import static io.holdfast.lock.engine.EngineFixture.request;
import static io.holdfast.lock.test.EngineSettingsBuilder.settings;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for closing an engine while a hold ends or starts.
 */
class ClosingTests {

	private final FakeBackend backend = new FakeBackend();

	private final CompletableFuture<Void> closed = new CompletableFuture<>();

	private final ManualTime time = new ManualTime();

	private final LockEngine engine = new LockEngine(new LockBackends(List.of(this.backend), "fake"),
			EngineSettings.DEFAULTS, TransactionBoundary.NONE, new ClosesMeanwhile(), this.time, Runnable::run,
			() -> this.backend.calls.add("threads and clients close"));

	private final Thread closing = new Thread(() -> {
		this.engine.close();
		this.closed.complete(null);
	});

	/**
	 * Otherwise the client closes first, and the lock stays held until its lease ends.
	 */
	@Test
	void closeAwaitsAReleaseOfAnotherThread() {
		this.engine.acquire(request().build()).close();
		this.closed.join();
		assertThat(this.backend.calls).endsWith("release stock:42", "threads and clients close");
	}

	/** A store that is silent for a moment would keep the lock for its whole lease. */
	@Test
	void closeRetriesAReleaseWithoutAResponse() {
		this.backend.releases.add((grant) -> new CompletableFuture<>());
		this.engine.acquire(request().build()).close();
		Awaitility.await().until(() -> this.closing.getState() == Thread.State.WAITING);
		this.time.advance(EngineSettings.DEFAULTS.responseTimeout().plusMillis(200));
		this.closed.join();
		assertThat(this.backend.calls).endsWith("release stock:42", "release stock:42", "threads and clients close");
		assertThat(this.backend.owners).isEmpty();
	}

	/**
	 * A listener of a loss that ends the JVM waits on the clock's thread for the engine.
	 */
	@Slow
	@Test
	void closeEndsAlthoughTheThreadOfTheClockIsBlocked() {
		this.backend.releases.add((grant) -> new CompletableFuture<>());
		this.engine.acquire(request().build()).close();
		this.closed.orTimeout(20, TimeUnit.SECONDS).join();
		assertThat(this.backend.calls).endsWith("release stock:42", "threads and clients close");
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void closeEndsWithoutTheStore(boolean silent) {
		for (int i = 0; i < 100; i++) {
			this.backend.releases.add((grant) -> silent ? new CompletableFuture<>()
					: CompletableFuture.failedFuture(new TimeoutException()));
		}
		this.engine.acquire(request().build()).close();
		Awaitility.await().until(() -> this.closing.getState() == Thread.State.WAITING);
		this.time.advance(EngineSettings.DEFAULTS.responseTimeout().multipliedBy(3));
		this.closed.join();
		assertThat(this.backend.calls).endsWith("threads and clients close");
	}

	/** For example, a job that ends its application. */
	@Test
	@Timeout(30)
	void closeDoesNotAwaitTheBodyThatCallsIt() {
		EngineFixture fixture = new EngineFixture(settings().shutdownTimeout(Duration.ofMinutes(1)).build(),
				TransactionBoundary.NONE);
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> fixture.engine.execute(request().build(), (handle) -> {
				fixture.engine.close();
				return null;
			}))
			.withMessageContaining("the application is stopping");
		fixture.assertNothingLeft();
	}

	@Test
	void closeAwaitsTheWithdrawalOfAStoppedCaller() {
		this.backend.heldByAnother(EngineFixture.LOCK);
		this.backend.acquires.add((claim) -> {
			closeMeanwhile();
			return CompletableFuture.completedFuture(this.backend.answer(claim));
		});
		assertThatExceptionOfType(LockNotAcquiredException.class)
			.isThrownBy(() -> this.engine.acquire(request().build()));
		this.closed.join();
		assertThat(this.backend.calls).endsWith("abandon stock:42", "threads and clients close");
	}

	/** The withdrawal may overtake the attempt on another connection. */
	@Test
	void closeAwaitsTheResponseToAnAttemptThatWasWithdrawn() {
		CompletableFuture<AcquireResult> response = new CompletableFuture<>();
		CompletableFuture<Claim> sent = new CompletableFuture<>();
		this.backend.acquires.add((claim) -> {
			sent.complete(claim);
			closeMeanwhile();
			return response;
		});
		assertThatExceptionOfType(LockNotAcquiredException.class)
			.isThrownBy(() -> this.engine.acquire(request().build()));
		Awaitility.await().until(() -> this.closed.isDone() || this.closing.getState() == Thread.State.WAITING);
		response.complete(this.backend.answer(sent.join()));
		this.closed.join();
		assertThat(this.backend.calls).endsWith("abandon stock:42", "abandon stock:42", "threads and clients close");
		assertThat(this.backend.owners).isEmpty();
	}

	@Test
	void bodyDoesNotRunUnderALockThatIsGrantedAfterTheEngineHasClosed() {
		CompletableFuture<LockEngine> closing = new CompletableFuture<>();
		LockEngine closed = new LockEngine(new LockBackends(List.of(this.backend), "fake"), EngineSettings.DEFAULTS,
				TransactionBoundary.NONE, new LockObserver() {
					@Override
					public void acquired(LockName lock, String backend, AcquireOutcome outcome, Duration waited,
							Duration lease) {
						closing.join().close();
					}
				}, new ManualTime(), Runnable::run, () -> {
				});
		closing.complete(closed);
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> closed.execute(request().build(), (handle) -> {
				throw new AssertionError("the body runs");
			}));
		assertThat(this.backend.owners).isEmpty();
		assertThat(closed.context().registry().held()).isEmpty();
	}

	/** Otherwise, their leases would be renewed until the JVM is killed. */
	@Test
	void blockingListenerDoesNotDelayTheReleaseOfOtherLocks() {
		EngineFixture stopping = new EngineFixture(settings().shutdownTimeout(Duration.ZERO).build(),
				TransactionBoundary.NONE);
		CompletableFuture<Void> unblocked = new CompletableFuture<>();
		for (int i = 0; i < 2; i++) {
			stopping.acquired(LockRequest.forLock(LockName.of("stock", i))).onLost((event) -> unblocked.join());
		}
		CompletableFuture<Void> close = CompletableFuture.runAsync(stopping.engine::close);
		try {
			Awaitility.await()
				.untilAsserted(() -> assertThat(stopping.backend.calls).contains("release stock:0", "release stock:1"));
		}
		finally {
			unblocked.complete(null);
			close.join();
		}
		assertThat(stopping.record.losses).hasSize(2);
	}

	/** Lets another thread close the engine until it waits or has closed. */
	private void closeMeanwhile() {
		this.closing.start();
		Awaitility.await().until(() -> this.closed.isDone() || this.closing.getState() == Thread.State.TIMED_WAITING);
	}

	/** Closes the engine after the hold has ended and before its release is sent. */
	private final class ClosesMeanwhile implements LockObserver {

		@Override
		public void released(LockName lock, String backend, Duration held, Duration lease) {
			closeMeanwhile();
		}

	}

}
