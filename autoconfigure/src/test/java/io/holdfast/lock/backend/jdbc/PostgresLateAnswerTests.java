package io.holdfast.lock.backend.jdbc;

import java.sql.SQLException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;

import javax.sql.DataSource;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;

import static io.holdfast.lock.backend.Verbs.answer;
import static io.holdfast.lock.backend.Verbs.awaitSignal;
import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.refused;
import static io.holdfast.lock.backend.Verbs.released;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * Tests for the rejection of an attempt that arrives when the claim has made another one.
 */
class PostgresLateAnswerTests extends PostgresStickyFixture {

	private final AtomicBoolean rejects = new AtomicBoolean();

	private CompletableFuture<Void> sent = new CompletableFuture<>();

	private CompletableFuture<Void> rejected = new CompletableFuture<>();

	@BeforeEach
	void expectAnAttempt() {
		this.sent = new CompletableFuture<>();
		this.rejected = new CompletableFuture<>();
	}

	private DataSource rejecting() {
		return HookedConnections.before(this.pool, "prepareStatement", "holdfast_lock", () -> {
			if (this.rejects.getAndSet(false)) {
				this.sent.complete(null);
				this.rejected.join();
				throw new SQLException("permission denied", "42501");
			}
			return null;
		});
	}

	@Test
	void lateRejectionLeavesTheNotificationOfALaterAttempt() throws Exception {
		try (JdbcLockBackend backend = backend(rejecting())) {
			listens(backend);
			Grant holder = granted(this.second, nonWaiting());
			Claim claim = claim(this.lock, LockMode.EXCLUSIVE, LONG, false);
			this.rejects.set(true);
			CompletableFuture<AcquireResult> earlier = CompletableFuture.supplyAsync(() -> backend.tryAcquire(claim))
				.thenCompose(Function.identity());
			this.sent.join();
			CompletionStage<?> signal = refused(backend, claim);
			this.rejected.complete(null);
			assertThatException().isThrownBy(earlier::join);
			released(this.second, holder);
			awaitSignal(signal);
			answer(backend.abandon(claim));
			assertThat(backend.waiting()).isZero();
		}
	}

	/** The engine does not withdraw a claim whose last attempt was rejected. */
	@Test
	void rejectionOfTheLastAttemptLeavesNothing() throws Exception {
		try (JdbcLockBackend backend = backend(rejecting())) {
			listens(backend);
			Grant holder = granted(this.second, nonWaiting());
			Claim claim = claim(this.lock, LockMode.EXCLUSIVE, LONG, false);
			refused(backend, claim);
			this.rejected.complete(null);
			this.rejects.set(true);
			assertThat(backend.tryAcquire(claim).toCompletableFuture()).isCompletedExceptionally();
			assertThat(backend.waiting()).isZero();
			answer(backend.abandon(claim));
			released(this.second, holder);
		}
	}

}
