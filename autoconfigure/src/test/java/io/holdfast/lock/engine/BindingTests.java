package io.holdfast.lock.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockContext;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockRequest;

import static io.holdfast.lock.engine.EngineFixture.request;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for holds that are bound to a thread and closed by any thread.
 */
class BindingTests {

	private final EngineFixture fixture = new EngineFixture();

	@AfterEach
	void nothingIsBound() {
		assertThat(LockContext.handles()).isEmpty();
	}

	@Test
	void holdsClosedInAnyOrderLeaveTheOthersBound() {
		List<LockHandle> holds = IntStream.range(0, 5).mapToObj(this::acquired).toList();
		onOtherThread(holds.get(4)::close);
		holds.get(1).close();
		onOtherThread(holds.get(2)::close);
		assertThat(LockHandle.current()).containsSame(holds.get(3));
		assertThat(LockContext.handles()).containsExactly(holds.get(3), holds.get(0));
		LockHandle next = acquired(5);
		assertThat(LockContext.handles()).containsExactly(next, holds.get(3), holds.get(0));
		holds.get(0).close();
		holds.get(3).close();
		assertThat(LockContext.handles()).containsExactly(next);
		next.close();
	}

	@Test
	void holdsThatOtherThreadsCloseDoNotAccumulate() {
		LockHandle outer = acquired(0);
		for (int i = 1; i <= 1000; i++) {
			onOtherThread(acquired(i)::close);
		}
		assertThat(LockContext.handles()).containsExactly(outer);
		outer.close();
	}

	/** Otherwise the interrupt could reach what the thread does after the hold. */
	@Test
	void endOfAHoldAwaitsTheInterruptOfItsThread() throws InterruptedException {
		List<String> events = new ArrayList<>();
		CompletableFuture<Void> held = new CompletableFuture<>();
		CountDownLatch interrupting = new CountDownLatch(1);
		CountDownLatch ended = new CountDownLatch(1);
		AtomicBoolean endedFirst = new AtomicBoolean();
		Thread holder = new Thread(() -> {
			LockHandle handle = this.fixture.engine.acquire(request().interruptOnLoss(true).build());
			held.complete(null);
			awaitUninterrupted(interrupting, 30_000);
			LockContext.unbind(handle);
			events.add("ended");
			ended.countDown();
			handle.close();
		}) {
			@Override
			public void interrupt() {
				interrupting.countDown();
				endedFirst.set(awaitUninterrupted(ended, 100));
				events.add("interrupted");
			}
		};
		holder.start();
		held.join();
		this.fixture.backend.revoked.complete(null);
		holder.join();
		assertThat(endedFirst).isFalse();
		assertThat(events).containsExactly("interrupted", "ended");
	}

	private static boolean awaitUninterrupted(CountDownLatch latch, long millis) {
		try {
			return latch.await(millis, TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private LockHandle acquired(int key) {
		return this.fixture.engine.acquire(LockRequest.of("stock", key));
	}

	private static void onOtherThread(Runnable task) {
		CompletableFuture.runAsync(task).join();
	}

}
