package io.holdfast.lock.backend.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.RepeatedTest;

import io.holdfast.lock.LockException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.engine.LockEngine;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.spi.TransactionBoundary;
import io.holdfast.lock.test.server.RedisServer;

import static io.holdfast.lock.test.EngineSettingsBuilder.settings;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Closes an engine, and then its backend, while two applications compete for a lock.
 */
class RedisClosingTests {

	private static RedisServer server;

	private final LockRequest request = LockRequest.forLock(LockName.of("stock", OwnerId.random().value()))
		.waitTime(Duration.ofSeconds(2))
		.build();

	private final List<Thread> callers = new ArrayList<>();

	@BeforeAll
	static void start() {
		server = RedisServer.started();
	}

	@AfterAll
	static void stop() {
		server.close();
	}

	@RepeatedTest(20)
	void closedApplicationLeavesNoLock() throws Exception {
		RedisLockBackend closing = RedisLibrary.REDISSON.backend(server.address());
		RedisLockBackend staying = RedisLibrary.REDISSON.backend(server.address());
		LockEngine first = engine(closing);
		LockEngine second = engine(staying);
		call(first);
		call(second);
		first.execute(this.request, LockHandle::fencingToken);
		second.execute(this.request, LockHandle::fencingToken);
		first.close();
		closing.close();
		second.close();
		staying.close();
		for (Thread caller : this.callers) {
			caller.join();
		}
		assertThat(server.keys("*" + this.request.lock() + "}:lock")).isEmpty();
	}

	private static LockEngine engine(RedisLockBackend backend) {
		return new LockEngine(new LockBackends(List.of(backend), RedisLockBackend.NAME),
				settings().sticky(Duration.ofSeconds(30)).build(), TransactionBoundary.NONE, List.of());
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
