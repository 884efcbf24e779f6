package io.holdfast.lock.backend.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import io.lettuce.core.RedisCommandExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.backend.redis.ScriptClient.Subscription;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.OwnerId;

import static io.holdfast.lock.backend.redis.TestRedis.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.AdditionalAnswers.returnsFirstArg;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/**
 * Tests for the rejection of an attempt that arrives when the claim has made another one.
 */
class RedisLateAnswerTests {

	private final Claim claim = new Claim(LockName.of("stock", "42"), OwnerId.random(), LockMode.EXCLUSIVE,
			Duration.ofSeconds(30), true, Duration.ofMinutes(1), false, true);

	private final CompletableFuture<List<Object>> late = new CompletableFuture<>();

	private final CompletableFuture<List<Object>> present = new CompletableFuture<>();

	private Consumer<String> listener = (message) -> {
	};

	private RedisLockBackend backend;

	@BeforeEach
	void connect() {
		ScriptClient client = mock(ScriptClient.class);
		given(client.channelOnServer(any())).will(returnsFirstArg());
		given(client.subscribe(any(), any())).will((call) -> {
			this.listener = call.getArgument(1);
			Subscription subscription = () -> CompletableFuture.completedStage(null);
			return CompletableFuture.completedStage(subscription);
		});
		given(client.evalSha(any(), any(), any(Object[].class)))
			.willReturn(CompletableFuture.completedStage(List.of(1L)));
		given(client.evalSha(eq(RedisScript.PROBE), any(), any(Object[].class)))
			.willReturn(CompletableFuture.completedStage(List.of("")));
		given(client.evalSha(eq(RedisScript.ACQUIRE), any(), any(Object[].class))).willReturn(this.late)
			.willReturn(this.present);
		this.backend = TestRedis.started(client, TestRedis.options(0));
	}

	@AfterEach
	void nothingIsExpected() throws Exception {
		get(this.backend.abandon(this.claim));
		assertThat(this.backend.waiting()).isZero();
		this.backend.close();
	}

	/** Makes two attempts, and rejects the first one when the second was answered. */
	private AcquireResult answerOfTheSecondAttempt(List<Object> answer) throws Exception {
		CompletableFuture<AcquireResult> first = this.backend.tryAcquire(this.claim).toCompletableFuture();
		CompletableFuture<AcquireResult> second = this.backend.tryAcquire(this.claim).toCompletableFuture();
		this.present.complete(answer);
		this.late.completeExceptionally(new RedisCommandExecutionException("NOPERM no permissions"));
		assertThat(first).isCompletedExceptionally();
		return get(second);
	}

	@Test
	void lateRejectionLeavesTheDemandOfALaterGrant() throws Exception {
		Grant grant = ((AcquireResult.Acquired) answerOfTheSecondAttempt(List.of(1L, 7L))).grant();
		this.listener.accept("wanted:" + this.claim.owner());
		assertThat(grant.wanted().toCompletableFuture()).isCompleted();
	}

	@Test
	void lateRejectionLeavesTheNotificationOfALaterAttempt() throws Exception {
		AcquireResult waiting = answerOfTheSecondAttempt(List.of(0L, 5_000L, 1_000L, 6L));
		this.listener.accept(this.claim.owner().value());
		assertThat(((AcquireResult.Contended) waiting).signal().toCompletableFuture()).isCompleted();
	}

	/** The engine does not withdraw a claim whose only attempt was rejected. */
	@Test
	void rejectedClaimExpectsNothing() {
		CompletableFuture<AcquireResult> only = this.backend.tryAcquire(this.claim).toCompletableFuture();
		this.late.completeExceptionally(new RedisCommandExecutionException("NOPERM no permissions"));
		assertThat(only).isCompletedExceptionally();
		assertThat(this.backend.waiting()).isZero();
	}

}
