package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockContext;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockLostException;
import io.holdfast.lock.LockNotAcquiredException;
import io.holdfast.lock.spi.observation.AcquireOutcome;
import io.holdfast.lock.test.Slow;

import static io.holdfast.lock.engine.EngineFixture.LOCK;
import static io.holdfast.lock.engine.EngineFixture.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for blocking callers: real threads on an engine whose clock does not advance.
 */
class CallerTests {

	private final EngineFixture fixture = new EngineFixture();

	@Test
	void interruptWhileWaitingKeepsTheFlagAndLeavesNoClaim() throws InterruptedException {
		this.fixture.backend.heldByAnother(LOCK);
		AtomicReference<Throwable> failure = new AtomicReference<>();
		AtomicBoolean flag = new AtomicBoolean();
		Thread caller = new Thread(() -> {
			try {
				this.fixture.engine.acquire(request().build());
			}
			catch (LockNotAcquiredException ex) {
				failure.set(ex);
				flag.set(Thread.currentThread().isInterrupted());
			}
		});
		caller.start();
		Awaitility.await().until(() -> caller.getState() == Thread.State.WAITING);
		caller.interrupt();
		caller.join();
		assertThat(failure.get()).hasMessageContaining("interrupted");
		assertThat(flag).isTrue();
		assertThat(this.fixture.backend.calls).endsWith("abandon stock:42");
		assertThat(this.fixture.record.outcomes).containsExactly(AcquireOutcome.INTERRUPTED);
		assertThat(this.fixture.engine.context().queues().size()).isZero();
	}

	@Test
	void holderIsInterruptedOnLossIfRequested() throws InterruptedException {
		AtomicBoolean interrupted = new AtomicBoolean();
		CompletableFuture<Void> entered = new CompletableFuture<>();
		Thread caller = new Thread(() -> {
			try (LockHandle handle = this.fixture.engine.acquire(request().interruptOnLoss(true).build())) {
				entered.complete(null);
				new CompletableFuture<Void>().get();
			}
			catch (InterruptedException ex) {
				interrupted.set(true);
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
		});
		caller.start();
		entered.join();
		this.fixture.backend.revoked.complete(null);
		caller.join();
		assertThat(interrupted).isTrue();
	}

	/** Another interrupt may have set the flag, too, and must not be hidden. */
	@Test
	void interruptToWhichTheBodyDoesNotRespondOutlastsTheCall() {
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.fixture.engine.execute(request().interruptOnLoss(true).build(), (handle) -> {
				this.fixture.backend.revoked.complete(null);
				return null;
			}));
		assertThat(Thread.interrupted()).isTrue();
	}

	@Test
	void threadThatPassedItsHoldToAFutureIsNotInterrupted() {
		LockHandle handle = this.fixture.engine.acquire(request().interruptOnLoss(true).build());
		LockContext.unbind(handle);
		this.fixture.backend.revoked.complete(null);
		assertThat(Thread.interrupted()).isFalse();
		assertThat(this.fixture.record.losses).hasSize(1);
		handle.close();
	}

	@Test
	void threadWhoseHandleIsClosedElsewhereIsNotInterrupted() throws InterruptedException {
		LockHandle lost = this.fixture.engine.acquire(request().interruptOnLoss(true).build());
		LockHandle kept = this.fixture.engine.acquire(request().build());
		Thread other = new Thread(() -> {
			lost.close();
			kept.close();
		});
		other.start();
		other.join();
		this.fixture.backend.revoked.complete(null);
		assertThat(Thread.interrupted()).isFalse();
	}

	@Test
	void threadIsInterruptedOncePerLease() {
		LockHandle outer = this.fixture.engine.acquire(request().interruptOnLoss(true).build());
		LockHandle inner = this.fixture.engine.acquire(request().interruptOnLoss(true).build());
		LockContext.unbind(outer);
		this.fixture.backend.revoked.complete(null);
		assertThat(Thread.interrupted()).isTrue();
		assertThat(Thread.interrupted()).isFalse();
		inner.close();
		outer.close();
	}

	/** A leftover permit would end the next park in the caller's own code. */
	@Test
	void noPermitIsLeftOnTheThreadThatAcquires() {
		LockSupport.parkNanos(1);
		for (int i = 0; i < 20; i++) {
			this.fixture.engine.acquire(request().build()).close();
			assertThat(isPermitLeft()).isFalse();
		}
	}

	/** Some answers arrive while the thread is parked, others just before or after. */
	@Slow
	@Test
	void noPermitIsLeftByAnswersOfOtherThreads() {
		AtomicReference<Runnable> next = new AtomicReference<>();
		AtomicBoolean stop = new AtomicBoolean();
		Thread store = new Thread(() -> {
			while (!stop.get()) {
				Runnable answer = next.get();
				if (answer != null) {
					answer.run();
					next.set(null);
				}
			}
		});
		store.start();
		LockSupport.parkNanos(1);
		int left = 0;
		try {
			for (int i = 0; i < 500; i++) {
				int round = i;
				CallerThreadExecutor steps = new CallerThreadExecutor();
				CompletableFuture<Void> answer = new CompletableFuture<>();
				next.set(() -> answer(steps, answer, round));
				steps.runUntilDone(answer, () -> {
				});
				while (next.get() != null) {
					Thread.onSpinWait();
				}
				left += isPermitLeft() ? 1 : 0;
			}
		}
		finally {
			stop.set(true);
		}
		// a thread may also wake up for no reason
		assertThat(left).as("rounds with a permit").isLessThan(3);
	}

	private static void answer(CallerThreadExecutor steps, CompletableFuture<Void> answer, int round) {
		for (int i = 0; i < 50 * (round % 20); i++) {
			Thread.onSpinWait();
		}
		steps.execute(() -> {
		});
		steps.execute(() -> answer.complete(null));
		steps.execute(() -> {
		});
	}

	private static boolean isPermitLeft() {
		long before = System.nanoTime();
		LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(2));
		return System.nanoTime() - before < TimeUnit.MILLISECONDS.toNanos(1);
	}

	/**
	 * Uses virtual threads where the JVM has them, each parked without a carrier.
	 * Otherwise uses a smaller number of platform threads.
	 */
	@Test
	void thousandsOfWaitersAllAcquireTheLock() throws Exception {
		ThreadFactory threads = virtualThreads();
		int callers = (threads != null) ? 10_000 : 500;
		ThreadFactory factory = (threads != null) ? threads : Thread::new;
		AtomicInteger inside = new AtomicInteger();
		AtomicInteger most = new AtomicInteger();
		CountDownLatch done = new CountDownLatch(callers);
		for (int i = 0; i < callers; i++) {
			factory.newThread(() -> {
				this.fixture.engine.execute(request().build(), (handle) -> {
					most.accumulateAndGet(inside.incrementAndGet(), Math::max);
					Thread.yield();
					return inside.decrementAndGet();
				});
				done.countDown();
			}).start();
		}
		assertThat(done.await(60, TimeUnit.SECONDS)).isTrue();
		assertThat(most).hasValue(1);
		this.fixture.assertNothingLeft();
	}

	private static ThreadFactory virtualThreads() throws ReflectiveOperationException {
		if (Runtime.version().feature() < 21) {
			return null;
		}
		Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
		return (ThreadFactory) Class.forName("java.lang.Thread$Builder").getMethod("factory").invoke(builder);
	}

	@Test
	void threadsOfOneJvmExcludeEachOther() throws InterruptedException {
		AtomicInteger inside = new AtomicInteger();
		AtomicInteger most = new AtomicInteger();
		AtomicInteger done = new AtomicInteger();
		List<Thread> threads = IntStream.range(0, 8).mapToObj((i) -> new Thread(() -> {
			for (int n = 0; n < 500; n++) {
				this.fixture.engine.execute(request().build(), (handle) -> {
					most.accumulateAndGet(inside.incrementAndGet(), Math::max);
					inside.decrementAndGet();
					return done.incrementAndGet();
				});
			}
		})).toList();
		threads.forEach(Thread::start);
		for (Thread thread : threads) {
			thread.join(Duration.ofSeconds(60).toMillis());
		}
		assertThat(done).hasValue(4_000);
		assertThat(most).hasValue(1);
		this.fixture.assertNothingLeft();
	}

}
