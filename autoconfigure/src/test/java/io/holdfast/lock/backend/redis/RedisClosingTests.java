package io.holdfast.lock.backend.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.RepeatedTest;

import io.holdfast.lock.LockException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.backend.StickyInstance;
import io.holdfast.lock.engine.LockEngine;
import io.holdfast.lock.test.Slow;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Closes an engine, and then its backend, while two applications compete for a lock.
 */
class RedisClosingTests extends OneRedisServer {

	private static final Duration STICKY = Duration.ofSeconds(30);

	private final LockRequest request = LockRequest.forLock(this.lock)
		.waitTime(Duration.ofSeconds(20))
		.leaseTime(StickyInstance.LONG)
		.build();

	private final List<Thread> callers = new ArrayList<>();

	@Slow
	@RepeatedTest(20)
	void closedApplicationLeavesNoLock() throws Exception {
		RedisLockBackend ownClient = this.library.backend(server.address());
		LockEngine closing = StickyInstance.of(ownClient, STICKY).engine();
		LockEngine staying = StickyInstance.of(second, STICKY).engine();
		call(closing);
		call(staying);
		closing.execute(this.request, LockHandle::fencingToken);
		staying.execute(this.request, LockHandle::fencingToken);
		closing.close();
		ownClient.close();
		staying.close();
		for (Thread caller : this.callers) {
			caller.join();
		}
		assertThat(server.keys(key("lock"))).isEmpty();
	}

	/** Lets three threads acquire the lock until the engine is closed. */
	private void call(LockEngine engine) {
		for (int i = 0; i < 3; i++) {
			Thread caller = new Thread(() -> {
				try {
					while (true) {
						engine.tryAcquire(this.request).ifPresent(LockHandle::close);
					}
				}
				catch (LockException ex) {
					// the engine is closed
				}
			});
			this.callers.add(caller);
			caller.start();
		}
	}

}
