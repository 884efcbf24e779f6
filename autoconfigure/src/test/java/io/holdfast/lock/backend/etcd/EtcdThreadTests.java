package io.holdfast.lock.backend.etcd;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Stream;

import io.etcd.jetcd.Client;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.engine.LockEngine;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.TransactionBoundary;
import io.holdfast.lock.test.server.TcpProxy;

import static io.holdfast.lock.backend.Verbs.BOUND;
import static io.holdfast.lock.backend.Verbs.claim;
import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.test.EngineSettingsBuilder.settings;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the threads that deliver the answers of etcd, and for what does not run on
 * them.
 */
class EtcdThreadTests extends OneEtcdServer {

	private final EtcdLockBackend backend = new EtcdLockBackend(Client.builder().endpoints(server.endpoint()),
			new EtcdLockOptions(NAMESPACE, BOUND));

	private final LockEngine engine = new LockEngine(new LockBackends(List.of(this.backend), EtcdLockBackend.NAME),
			settings().responseTimeout(BOUND).build(), TransactionBoundary.NONE, List.of());

	@AfterEach
	void close() {
		this.engine.close();
		this.backend.close();
	}

	/** Calls a function on a thread that reports the end of a session. */
	private <T> CompletableFuture<T> onThreadOfTheClient(Function<Thread, T> function) throws Exception {
		Grant grant = granted(this.backend, claim(LOCK));
		CompletableFuture<T> result = grant.revoked()
			.thenApply((done) -> function.apply(Thread.currentThread()))
			.toCompletableFuture();
		endSessions();
		return result;
	}

	@Test
	void threadsOfTheClientAreKnown() throws Exception {
		assertThat(onThreadOfTheClient(this.backend::answersOn)).succeedsWithin(BOUND).isEqualTo(true);
		assertThat(this.backend.answersOn(Thread.currentThread())).isFalse();
	}

	@Test
	void waitOnAThreadOfTheClientIsRefused() throws Exception {
		LockRequest request = LockRequest.forLock(LockName.of("another")).build();
		assertThat(onThreadOfTheClient((thread) -> this.engine.acquire(request))).failsWithin(BOUND)
			.withThrowableThat()
			.havingCause()
			.isInstanceOf(LockConfigurationException.class)
			.withMessageContaining("delivers the responses of backend etcd");
	}

	@Test
	void blockingListenerDelaysNoOtherLoss() throws Exception {
		List<LockHandle> held = Stream.of("a", "b")
			.map((name) -> LockRequest.forLock(LockName.of(name)).leaseTime(Duration.ofMinutes(5)).build())
			.map(this.engine::acquire)
			.toList();
		CountDownLatch notified = new CountDownLatch(held.size());
		held.forEach((handle) -> handle.onLost((event) -> {
			notified.countDown();
			await(notified);
		}));
		endSessions();
		assertThat(notified.await(BOUND.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
		held.forEach(LockHandle::close);
	}

	/** jetcd reports it under a lock that each thread needs to close a watch. */
	@Test
	void brokenWatchMayWaitForAThreadThatClosesAnother() throws Exception {
		CountDownLatch established = new CountDownLatch(2);
		CountDownLatch closed = new CountDownLatch(1);
		try (TcpProxy proxy = TcpProxy.to(server.port())) {
			JetcdClient client = JetcdClient.create(Client.builder().endpoints("http://127.0.0.1:" + proxy.port()),
					BOUND);
			try {
				Runnable other = client.watch("/other", new WhenBroken(established, () -> {
				}));
				client.watch("/one", new WhenBroken(established, () -> {
					new Thread(() -> {
						other.run();
						closed.countDown();
					}).start();
					await(closed);
				}));
				assertThat(established.await(BOUND.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
				proxy.cut();
				assertThat(closed.await(BOUND.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
			}
			finally {
				client.close();
			}
		}
	}

	private static void await(CountDownLatch notified) {
		try {
			notified.await(BOUND.multipliedBy(2).toMillis(), TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	@Test
	void threadsEndWithTheClient() throws Exception {
		Thread thread = onThreadOfTheClient(Function.identity()).get(BOUND.toMillis(), TimeUnit.MILLISECONDS);
		this.backend.close();
		Awaitility.await().atMost(BOUND).until(() -> !thread.isAlive());
	}

	/**
	 * Runs a task when a watch is broken.
	 *
	 * @param established counted down when the watch is established
	 * @param task the task
	 */
	private record WhenBroken(CountDownLatch established, Runnable task) implements EtcdClient.WatchListener {

		@Override
		public void created(long revision) {
			this.established.countDown();
		}

		@Override
		public void written(String key, long revision) {
		}

		@Override
		public void deleted(String key, long revision) {
		}

		@Override
		public void broken() {
			this.task.run();
		}

	}

}
