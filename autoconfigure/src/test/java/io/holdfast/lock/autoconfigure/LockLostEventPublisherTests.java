package io.holdfast.lock.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.event.EventListener;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockLostEvent;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.LossCause;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

class LockLostEventPublisherTests {

	private static final LockLostEvent EVENT = new LockLostEvent(LockName.of("stock", "42"), "redis",
			new FencingToken(1), LossCause.REFUSED);

	@Test
	void listenersOfTheApplicationAreNotifiedOfALoss() {
		new ApplicationContextRunner().withPropertyValues("distributed-lock.backend=local")
			.withConfiguration(
					AutoConfigurations.of(DistributedLockAutoConfiguration.class, LocalLockAutoConfiguration.class))
			.withBean(Listener.class)
			.run((context) -> {
				LockRequest shortLease = LockRequest.forLock(LockName.of("stock", "42"))
					.leaseTime(Duration.ofMillis(50))
					.renew(false)
					.build();
				Listener listener = context.getBean(Listener.class);
				try (LockHandle handle = context.getBean(LockOperations.class).acquire(shortLease)) {
					await().untilAsserted(() -> assertThat(listener.threads).hasSize(1));
					assertThat(listener.threads).containsKey(
							new LockLostEvent(handle.lock(), "local", handle.fencingToken(), LossCause.EXPIRED));
				}
			});
	}

	@Test
	void eventsArePublishedInOrderOnAnotherThread() throws InterruptedException {
		List<Object> published = new CopyOnWriteArrayList<>();
		LockLostEventPublisher publisher = new LockLostEventPublisher((event) -> {
			assertThat(Thread.currentThread().getName()).startsWith("holdfast-lost-");
			published.add(event);
		});
		LockLostEvent second = new LockLostEvent(LockName.of("stock"), "redis", new FencingToken(2), LossCause.REVOKED);
		publisher.lost(EVENT);
		publisher.lost(second);
		await().untilAsserted(() -> assertThat(published).containsExactly(EVENT, second));
		publisher.destroy();
	}

	@Test
	void failingListenerDoesNotBlockTheNextEvent() throws InterruptedException {
		List<Object> published = new CopyOnWriteArrayList<>();
		LockLostEventPublisher publisher = new LockLostEventPublisher((event) -> {
			published.add(event);
			throw new IllegalStateException("a listener's own failure");
		});
		publisher.lost(EVENT);
		publisher.lost(EVENT);
		await().untilAsserted(() -> assertThat(published).hasSize(2));
		publisher.destroy();
	}

	@Test
	void lossWhileTheApplicationStopsIsStillPublished() throws InterruptedException {
		List<Object> published = new CopyOnWriteArrayList<>();
		LockLostEventPublisher publisher = new LockLostEventPublisher(published::add);
		publisher.lost(EVENT);
		publisher.destroy();
		assertThat(published).containsExactly(EVENT);
	}

	@Test
	void lossAfterTheApplicationHasStoppedIsNotPublished() throws InterruptedException {
		List<Object> published = new CopyOnWriteArrayList<>();
		LockLostEventPublisher publisher = new LockLostEventPublisher(published::add);
		publisher.destroy();
		publisher.lost(EVENT);
		assertThat(published).isEmpty();
	}

	static class Listener {

		private final Map<LockLostEvent, Thread> threads = new ConcurrentHashMap<>();

		@EventListener
		void lost(LockLostEvent event) {
			this.threads.put(event, Thread.currentThread());
		}

	}

}
