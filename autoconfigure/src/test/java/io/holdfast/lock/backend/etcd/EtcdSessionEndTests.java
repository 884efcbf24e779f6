package io.holdfast.lock.backend.etcd;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import static io.holdfast.lock.backend.Verbs.BOUND;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the end of the sessions of a client that closes.
 */
class EtcdSessionEndTests extends LateEtcdBackend {

	private static final long SECONDS = 30;

	private final EtcdKeys names = new EtcdKeys(NAMESPACE, "test");

	private final Sessions sessions = new Sessions(new EtcdCalls(this.client, this.names.root()), this.names,
			this.clock, (session) -> {
			});

	@Test
	void sessionThatStartsDuringTheEndIsRevoked() throws Exception {
		this.client.delayNextAnswerToASession();
		this.sessions.enter(SECONDS);
		Awaitility.await().atMost(BOUND).until(() -> keys("sessions/").size() == 1);
		List<CompletableFuture<?>> ends = this.sessions.end();
		this.client.carryOutNext();
		assertThat(CompletableFuture.allOf(ends.toArray(CompletableFuture[]::new))).succeedsWithin(BOUND);
		assertThat(keys("sessions/")).isEmpty();
	}

	/** An attempt whose session has ended would start the next one. */
	@Test
	void noSessionStartsAfterTheEnd() throws Exception {
		assertThat(this.sessions.end()).isEmpty();
		assertThat(this.sessions.enter(SECONDS)).failsWithin(BOUND)
			.withThrowableOfType(ExecutionException.class)
			.withMessageContaining("closed");
		assertThat(keys("sessions/")).isEmpty();
	}

}
