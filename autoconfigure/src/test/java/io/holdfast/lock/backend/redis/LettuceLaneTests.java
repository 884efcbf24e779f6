package io.holdfast.lock.backend.redis;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;

import io.lettuce.core.RedisReadOnlyException;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import org.junit.jupiter.api.Test;
import org.mockito.Mockito;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link LettuceLane}, without a server.
 */
class LettuceLaneTests {

	private final AtomicInteger reconnections = new AtomicInteger();

	private final LettuceLane lane = new LettuceLane(() -> CompletableFuture.completedStage(connection()),
			this.reconnections::incrementAndGet);

	private static LettuceConnection connection() {
		StatefulRedisConnection<String, String> connection = Mockito.mock();
		RedisAsyncCommands<String, String> commands = Mockito.mock();
		Mockito.when(connection.isOpen()).thenReturn(true);
		return new LettuceConnection(connection, commands, false, (key) -> CompletableFuture.completedStage(commands),
				() -> {
				});
	}

	private CompletableFuture<String> send(CompletionStage<String> response) {
		return this.lane.send((connection) -> response, Optional::empty).toCompletableFuture();
	}

	private void respond() {
		assertThat(send(CompletableFuture.completedStage("OK"))).isCompleted();
	}

	private void respondAsReplica() {
		assertThat(send(CompletableFuture.failedStage(readOnly()))).isCompletedExceptionally();
	}

	private static RedisReadOnlyException readOnly() {
		return new RedisReadOnlyException("READONLY You can't write against a read only replica.");
	}

	/** While requests do not, the next connection leads to the replica as well. */
	@Test
	void notificationsLeaveAReplicaWhenRequestsHave() {
		respond();
		respondAsReplica();
		respondAsReplica();
		assertThat(this.reconnections).as("at the replica").hasValue(0);
		respond();
		assertThat(this.reconnections).as("at the primary").hasValue(1);
	}

	/** Each time, waiters lose their positions. */
	@Test
	void notificationsLeaveAReplicaOnce() {
		respondAsReplica();
		respond();
		respond();
		assertThat(this.reconnections).hasValue(1);
	}

	@Test
	void lateResponsesOfTheReplicaDoNotCount() {
		CompletableFuture<String> success = new CompletableFuture<>();
		CompletableFuture<String> failure = new CompletableFuture<>();
		CompletableFuture<String> first = send(success);
		CompletableFuture<String> second = send(failure);
		respondAsReplica();
		success.complete("OK");
		failure.completeExceptionally(readOnly());
		assertThat(first).isCompleted();
		assertThat(second).isCompletedExceptionally();
		assertThat(this.reconnections).hasValue(0);
		respond();
		assertThat(this.reconnections).hasValue(1);
	}

	@Test
	void secondFailoverCountsAgain() {
		for (int failover = 1; failover <= 2; failover++) {
			respondAsReplica();
			respond();
			assertThat(this.reconnections).hasValue(failover);
		}
	}

}
