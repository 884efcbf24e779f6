package io.holdfast.lock.interceptor;

import java.time.Duration;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.WhenNotAcquired;
import io.holdfast.lock.autoconfigure.DistributedLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockInterceptorAutoConfiguration;
import io.holdfast.lock.backend.local.LocalLockBackend;
import io.holdfast.lock.spi.observation.AcquireOutcome;
import io.holdfast.lock.spi.observation.LockObserver;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for a scheduled job on two instances of an application that share a store.
 */
class ScheduledJobTests {

	private static final long TIMEOUT_SECONDS = 30;

	private final LocalLockBackend store = new LocalLockBackend();

	private final Outcomes outcomes = new Outcomes();

	private final ApplicationContextRunner instance = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(DistributedLockAutoConfiguration.class, LockInterceptorAutoConfiguration.class))
		.withBean(LocalLockBackend.class, () -> this.store)
		.withBean(Outcomes.class, () -> this.outcomes)
		.withPropertyValues("distributed-lock.backend=local", "distributed-lock.wait-time=1h");

	@Test
	void oneOfTwoInstancesRunsTheJobAtEachTick() {
		Job job = new Job();
		ApplicationContextRunner scheduled = this.instance.withUserConfiguration(Scheduling.class);
		scheduled.withBean(Job.class, () -> job).run((first) -> {
			assertThat(job.started.await(TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
			scheduled.withBean(Job.class, () -> job).run((second) -> {
				Awaitility.await()
					.atMost(Duration.ofSeconds(TIMEOUT_SECONDS))
					.untilAsserted(() -> assertThat(this.outcomes.all)
						.containsExactlyInAnyOrder(AcquireOutcome.ACQUIRED, AcquireOutcome.SKIPPED));
				job.mayEnd.countDown();
			});
			assertThat(job.runs).hasValue(1);
		});
	}

	@Test
	void callerThatOnlyTriesDoesNotWait() {
		this.instance.run((first) -> {
			try (LockHandle held = first.getBean(LockOperations.class).acquire(LockRequest.of("job"))) {
				assertThat(held.isHeld()).isTrue();
				this.instance.run((second) -> {
					LockOperations locks = second.getBean(LockOperations.class);
					assertThat(locks.tryAcquire(LockRequest.of("job"))).isEmpty();
					assertThat(locks.tryAcquireAsync(LockRequest.of("job"))
						.toCompletableFuture()
						.get(TIMEOUT_SECONDS, TimeUnit.SECONDS)).isEmpty();
				});
			}
		});
	}

	@Test
	void configuredWaitTimeIsUsed() {
		this.instance.withBean(WaitingJob.class).run((context) -> {
			LockHandle held = context.getBean(LockOperations.class).acquire(LockRequest.of("job"));
			Thread caller = new Thread(() -> context.getBean(WaitingJob.class).run());
			caller.start();
			Awaitility.await()
				.atMost(Duration.ofSeconds(TIMEOUT_SECONDS))
				.until(() -> this.outcomes.requests.size() == 2
						&& Set.of(Thread.State.WAITING, Thread.State.TIMED_WAITING, Thread.State.TERMINATED)
							.contains(caller.getState()));
			held.close();
			caller.join(TimeUnit.SECONDS.toMillis(TIMEOUT_SECONDS));
			assertThat(context.getBean(WaitingJob.class).runs()).isEqualTo(1);
		});
	}

	/**
	 * Records the outcomes of the requests of both instances.
	 */
	static final class Outcomes implements LockObserver {

		private final Queue<AcquireOutcome> all = new ConcurrentLinkedQueue<>();

		private final Queue<LockName> requests = new ConcurrentLinkedQueue<>();

		@Override
		public void acquiring(LockName lock, String backend) {
			this.requests.add(lock);
		}

		@Override
		public void acquired(LockName lock, String backend, AcquireOutcome outcome, Duration waited, Duration lease) {
			this.all.add(outcome);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	static class Scheduling {

	}

	static class Job {

		private final CountDownLatch started = new CountDownLatch(1);

		private final CountDownLatch mayEnd = new CountDownLatch(1);

		private final AtomicInteger runs = new AtomicInteger();

		@Scheduled(initialDelay = 0, fixedDelay = 1, timeUnit = TimeUnit.DAYS)
		@DistributedLock(name = "job", whenNotAcquired = WhenNotAcquired.SKIP)
		public void run() throws InterruptedException {
			this.runs.incrementAndGet();
			this.started.countDown();
			this.mayEnd.await(TIMEOUT_SECONDS, TimeUnit.SECONDS);
		}

	}

	static class WaitingJob {

		private final AtomicInteger runs = new AtomicInteger();

		@DistributedLock(name = "job", waitTime = "1h", whenNotAcquired = WhenNotAcquired.SKIP)
		public void run() {
			this.runs.incrementAndGet();
		}

		public int runs() {
			return this.runs.get();
		}

	}

}
