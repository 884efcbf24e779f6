package io.holdfast.lock.backend.redis;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;
import org.mockito.AdditionalAnswers;
import org.mockito.ArgumentMatchers;

import io.holdfast.lock.backend.redis.ScriptClient.Subscription;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/**
 * Tests for {@link ReleaseNotifications}.
 */
class ReleaseNotificationsTests {

	/** The application's own client may outlive the backend. */
	@Test
	void subscriptionThatSucceedsAfterTheCloseEnds() {
		CompletableFuture<Subscription> response = new CompletableFuture<>();
		ScriptClient client = mock(ScriptClient.class);
		given(client.channelOnServer(ArgumentMatchers.any())).will(AdditionalAnswers.returnsFirstArg());
		given(client.subscribe(ArgumentMatchers.any(), ArgumentMatchers.any())).willReturn(response);
		ReleaseNotifications notifications = new ReleaseNotifications(client, "test");
		notifications.subscribe();
		assertThat(notifications.close()).isCompleted();
		AtomicInteger ended = new AtomicInteger();
		response.complete(() -> CompletableFuture.completedStage(ended.incrementAndGet()));
		assertThat(ended).hasValue(1);
	}

}
