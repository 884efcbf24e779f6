package io.holdfast.lock.backend.etcd;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;

import org.junit.jupiter.api.Test;
import org.mockito.Mockito;

import io.holdfast.lock.test.StoppedClock;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Sessions}, without a server.
 */
class SessionsTests {

	private static final long SECONDS = 30;

	private final EtcdClient client = Mockito.mock();

	private final EtcdKeys keys = new EtcdKeys("/holdfast", "test");

	private final Sessions sessions = new Sessions(new EtcdCalls(this.client, this.keys.root()), this.keys,
			new StoppedClock(), (session) -> {
			});

	/** Otherwise, all later claims with this lease time would wait for it. */
	@Test
	void startThatThrowsIsFollowedByAnother() {
		Mockito.when(this.client.grantLease(SECONDS))
			.thenThrow(new NoClassDefFoundError("undeployed"))
			.thenReturn(CompletableFuture.failedFuture(new TimeoutException()));
		assertThat(this.sessions.enter(SECONDS)).isCompletedExceptionally();
		assertThat(this.sessions.enter(SECONDS)).isCompletedExceptionally();
		Mockito.verify(this.client, Mockito.times(2)).grantLease(SECONDS);
		assertThat(this.sessions.end()).as("what the end of the application waits for").isEmpty();
	}

}
