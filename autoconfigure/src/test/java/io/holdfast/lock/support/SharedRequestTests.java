package io.holdfast.lock.support;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link SharedRequest}.
 */
class SharedRequestTests {

	private final List<CompletableFuture<String>> sent = new ArrayList<>();

	private final SharedRequest<String> request = new SharedRequest<>();

	private CompletableFuture<String> send() {
		return this.request.send(() -> {
			CompletableFuture<String> response = new CompletableFuture<>();
			this.sent.add(response);
			return response;
		});
	}

	@Test
	void callersShareOneRequestUntilItsResponse() {
		CompletableFuture<String> first = send();
		CompletableFuture<String> second = send();
		assertThat(this.sent).hasSize(1);
		this.sent.get(0).complete("one");
		assertThat(first).isCompletedWithValue("one");
		assertThat(second).isCompletedWithValue("one");
		CompletableFuture<String> third = send();
		this.sent.get(1).complete("two");
		assertThat(third).isCompletedWithValue("two");
	}

	@Test
	void callerThatIsNotifiedOfTheResponseMaySendAgain() {
		CompletableFuture<String> next = send().thenCompose((response) -> send());
		this.sent.get(0).complete("one");
		assertThat(this.sent).hasSize(2);
		this.sent.get(1).complete("two");
		assertThat(next).isCompletedWithValue("two");
	}

	@Test
	void failureIsSharedAndTheNextCallerSendsAgain() {
		CompletableFuture<String> failed = this.request.send(() -> {
			throw new IllegalStateException("down");
		});
		assertThat(failed).failsWithin(Duration.ZERO)
			.withThrowableThat()
			.withCauseInstanceOf(IllegalStateException.class);
		send();
		assertThat(this.sent).hasSize(1);
	}

}
