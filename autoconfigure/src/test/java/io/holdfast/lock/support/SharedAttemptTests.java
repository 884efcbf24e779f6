package io.holdfast.lock.support;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link SharedAttempt}.
 */
class SharedAttemptTests {

	private final List<CompletableFuture<String>> started = new ArrayList<>();

	private final SharedAttempt<String> attempt = new SharedAttempt<>(this::start);

	private CompletionStage<String> start() {
		CompletableFuture<String> work = new CompletableFuture<>();
		this.started.add(work);
		return work;
	}

	@Test
	void callersShareOneAttempt() {
		CompletableFuture<String> first = this.attempt.get().toCompletableFuture();
		CompletableFuture<String> second = this.attempt.get().toCompletableFuture();
		assertThat(this.started).hasSize(1);
		assertThat(this.attempt.hasSucceeded()).isFalse();
		this.started.get(0).complete("done");
		assertThat(first).isCompletedWithValue("done");
		assertThat(second).isCompletedWithValue("done");
		assertThat(this.attempt.hasSucceeded()).isTrue();
		assertThat(this.attempt.get().toCompletableFuture()).isCompletedWithValue("done");
		assertThat(this.started).hasSize(1);
	}

	@Test
	void failedAttemptIsRepeatedByTheNextCaller() {
		CompletableFuture<String> first = this.attempt.get().toCompletableFuture();
		this.started.get(0).completeExceptionally(new IllegalStateException("down"));
		assertThat(first).isCompletedExceptionally();
		assertThat(this.attempt.hasSucceeded()).isFalse();
		CompletableFuture<String> second = this.attempt.get().toCompletableFuture();
		this.started.get(1).complete("done");
		assertThat(second).isCompletedWithValue("done");
	}

	@Test
	void workThatThrowsFailsTheAttempt() {
		SharedAttempt<String> throwing = new SharedAttempt<>(() -> {
			throw new IllegalStateException("down");
		});
		assertThat(throwing.get().toCompletableFuture()).failsWithin(Duration.ZERO)
			.withThrowableThat()
			.withCauseInstanceOf(IllegalStateException.class);
		assertThat(throwing.hasSucceeded()).isFalse();
	}

}
