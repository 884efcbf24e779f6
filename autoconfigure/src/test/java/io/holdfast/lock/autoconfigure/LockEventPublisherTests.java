package io.holdfast.lock.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockAcquiredEvent;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockLostEvent;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockNotAcquiredEvent;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockReleasedEvent;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.LossCause;
import io.holdfast.lock.spi.observation.AcquireOutcome;
import io.holdfast.lock.spi.observation.LockObservation;
import io.holdfast.lock.test.FailingLog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

class LockEventPublisherTests {

	private static final LockLostEvent EVENT = new LockLostEvent(LockName.of("stock", "42"), "redis",
			new FencingToken(1), LossCause.REFUSED);

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withPropertyValues("distributed-lock.backend=local")
		.withConfiguration(
				AutoConfigurations.of(DistributedLockAutoConfiguration.class, LocalLockAutoConfiguration.class));

	@Test
	void listenersOfTheApplicationAreNotifiedOfALoss() {
		this.runner.withBean(Listener.class).run((context) -> {
			LockRequest shortLease = LockRequest.forLock(LockName.of("stock", "42"))
				.leaseTime(Duration.ofMillis(50))
				.renew(false)
				.build();
			Listener listener = context.getBean(Listener.class);
			try (LockHandle handle = context.getBean(LockOperations.class).acquire(shortLease)) {
				await().untilAsserted(() -> assertThat(listener.threads).hasSize(1));
				assertThat(listener.threads)
					.containsKey(new LockLostEvent(handle.lock(), "local", handle.fencingToken(), LossCause.EXPIRED));
			}
		});
	}

	@Test
	void lossIsPublishedThoughNoThreadCanBeCreated() throws InterruptedException {
		List<Object> published = new CopyOnWriteArrayList<>();
		LockEventPublisher publisher = new LockEventPublisher(published::add, (task) -> {
			throw new OutOfMemoryError("unable to create native thread");
		});
		publisher.lost(EVENT);
		assertThat(published).containsExactly(EVENT);
		publisher.destroy();
	}

	@Test
	void lossIsPublishedThoughNoThreadCanBeCreatedAndTheLogFails() throws InterruptedException {
		try (FailingLog log = FailingLog.ofPackage(LockEventPublisher.class)) {
			lossIsPublishedThoughNoThreadCanBeCreated();
		}
	}

	@Test
	void listenersAreNotifiedOfTheEventsThatTheyListenTo() {
		this.runner.withBean(Followers.class).run((context) -> {
			LockOperations locks = context.getBean(LockOperations.class);
			List<Object> events = context.getBean(Followers.class).events;
			try (LockHandle handle = locks.acquire(LockRequest.of("stock", "42"))) {
				CompletableFuture.runAsync(() -> locks.tryAcquire(LockRequest.of("stock", "42"))).join();
				await().untilAsserted(() -> assertThat(events).hasSize(2));
				assertThat(events.get(0)).isInstanceOfSatisfying(LockAcquiredEvent.class,
						(event) -> assertThat(event.token()).isEqualTo(handle.fencingToken()));
				assertThat(events.get(1)).isInstanceOfSatisfying(LockNotAcquiredEvent.class,
						(event) -> assertThat(event.outcome()).isEqualTo("skipped"));
			}
			await().untilAsserted(
					() -> assertThat(events).last().isInstanceOfSatisfying(LockReleasedEvent.class, (event) -> {
						assertThat(event.lock()).isEqualTo(LockName.of("stock", "42"));
						assertThat(event.backend()).isEqualTo("local");
					}));
		});
	}

	@Test
	void listenerThatIsCreatedWithItsFirstEventIsNotified() {
		this.runner
			.withBean("lazy", LazyFollower.class, LazyFollower::new, (definition) -> definition.setLazyInit(true))
			.run((context) -> {
				assertThat(((ConfigurableApplicationContext) context.getSourceApplicationContext()).getBeanFactory()
					.containsSingleton("lazy")).isFalse();
				context.getBean(LockOperations.class).acquire(LockRequest.of("stock", "42")).close();
				await().untilAsserted(() -> assertThat(context.getBean(LazyFollower.class).acquired).hasSize(1));
			});
	}

	/** Its class does not show what it listens to, but its bean definition does. */
	@Test
	void listenerWithoutAClassOfItsOwnIsNotified() {
		this.runner.withUserConfiguration(PayloadListener.class).run((context) -> {
			context.getBean(LockOperations.class).acquire(LockRequest.of("stock", "42")).close();
			await().untilAsserted(() -> assertThat(context.getBean(PayloadListener.class).acquired).hasSize(1));
		});
	}

	@Test
	void acquisitionsAreNotFollowedWithoutAListener() {
		this.runner.withBean(Listener.class)
			.run((context) -> assertThat(
					context.getBean(LockEventPublisher.class).observe(LockName.of("stock"), "local"))
				.isSameAs(LockObservation.NONE));
	}

	@Test
	void acquisitionsAreFollowedWhileListenersAreUnknown() throws InterruptedException {
		LockEventPublisher publisher = new LockEventPublisher((event) -> {
		});
		assertThat(publisher.observe(LockName.of("stock"), "local")).isNotSameAs(LockObservation.NONE);
		publisher.destroy();
	}

	@Test
	void eventsBeyondTheLimitAreDroppedButLossesAreNot() throws InterruptedException {
		CountDownLatch slow = new CountDownLatch(1);
		Queue<Object> published = new ConcurrentLinkedQueue<>();
		LockEventPublisher publisher = new LockEventPublisher((event) -> {
			awaitUninterruptibly(slow);
			published.add(event);
		});
		for (int i = 0; i < 11_000; i++) {
			publisher.observe(LockName.of("stock"), "local").notGranted(AcquireOutcome.TIMEOUT, Duration.ZERO);
		}
		publisher.lost(EVENT);
		slow.countDown();
		await().untilAsserted(() -> assertThat(published).contains(EVENT));
		assertThat(published).hasSizeLessThan(11_000);
		publisher.destroy();
	}

	private static void awaitUninterruptibly(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	@Test
	void eventsArePublishedInOrderOnAnotherThread() throws InterruptedException {
		List<Object> published = new CopyOnWriteArrayList<>();
		LockEventPublisher publisher = new LockEventPublisher((event) -> {
			assertThat(Thread.currentThread().getName()).startsWith("holdfast-events");
			published.add(event);
		});
		LockLostEvent second = new LockLostEvent(LockName.of("stock"), "redis", new FencingToken(2), LossCause.REVOKED);
		publisher.lost(EVENT);
		publisher.lost(second);
		await().untilAsserted(() -> assertThat(published).containsExactly(EVENT, second));
		publisher.destroy();
	}

	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void failingListenerDoesNotBlockTheNextEvent(CapturedOutput output) throws InterruptedException {
		Queue<Error> errors = new ConcurrentLinkedQueue<>(List.of(new NoClassDefFoundError("of the listener")));
		LockEventPublisher publisher = new LockEventPublisher((event) -> {
			Error error = errors.poll();
			if (error != null) {
				throw error;
			}
			throw new IllegalStateException("a listener's own failure");
		});
		publisher.lost(EVENT);
		publisher.lost(EVENT);
		publisher.destroy();
		assertThat(output.getAll()
			.lines()
			.filter((line) -> line.contains("A listener for LockLostEvent of lock 'stock:42' failed"))).hasSize(2);
	}

	@Test
	void lossWhileTheApplicationStopsIsStillPublished() throws InterruptedException {
		List<Object> published = new CopyOnWriteArrayList<>();
		LockEventPublisher publisher = new LockEventPublisher(published::add);
		publisher.lost(EVENT);
		publisher.destroy();
		assertThat(published).containsExactly(EVENT);
	}

	@Test
	void lossAfterTheApplicationHasStoppedIsNotPublished() throws InterruptedException {
		List<Object> published = new CopyOnWriteArrayList<>();
		LockEventPublisher publisher = new LockEventPublisher(published::add);
		publisher.destroy();
		publisher.lost(EVENT);
		assertThat(published).isEmpty();
	}

	static class Followers {

		private final List<Object> events = new CopyOnWriteArrayList<>();

		@EventListener
		void acquired(LockAcquiredEvent event) {
			this.events.add(event);
		}

		@EventListener
		void notAcquired(LockNotAcquiredEvent event) {
			this.events.add(event);
		}

		@EventListener
		void released(LockReleasedEvent event) {
			this.events.add(event);
		}

	}

	static class Listener {

		private final Map<LockLostEvent, Thread> threads = new ConcurrentHashMap<>();

		@EventListener
		void lost(LockLostEvent event) {
			this.threads.put(event, Thread.currentThread());
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class PayloadListener {

		private final List<LockAcquiredEvent> acquired = new CopyOnWriteArrayList<>();

		@Bean
		ApplicationListener<PayloadApplicationEvent<LockAcquiredEvent>> onAcquired() {
			return ApplicationListener.forPayload(this.acquired::add);
		}

	}

	static class LazyFollower implements ApplicationListener<PayloadApplicationEvent<LockAcquiredEvent>> {

		private final List<LockAcquiredEvent> acquired = new CopyOnWriteArrayList<>();

		@Override
		public void onApplicationEvent(PayloadApplicationEvent<LockAcquiredEvent> event) {
			this.acquired.add(event.getPayload());
		}

	}

}
