package io.holdfast.verification.benchmark;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import org.springframework.context.ConfigurableApplicationContext;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;

/**
 * Measures how long a lock takes from the first to the last of many callers that wait for
 * it in this process.
 */
final class WaitersBenchmark {

	private static final int ROUNDS = 3;

	private static final int WARM_UP = 20_000;

	private WaitersBenchmark() {
	}

	static void measure(String store, int[] sizes, GrowthReport report) throws IOException {
		try (Servers servers = new Servers(store);
				ConfigurableApplicationContext context = HoldfastContender
					.application(servers.argumentsOfThisProcess())) {
			LockOperations locks = context.getBean(LockOperations.class);
			int most = sizes[sizes.length - 1];
			for (int passed = 0; passed < WARM_UP; passed += most) {
				pass(locks, most);
			}
			for (int size : sizes) {
				long[] nanos = new long[ROUNDS];
				long before = servers.requests();
				for (int round = 0; round < ROUNDS; round++) {
					nanos[round] = pass(locks, size);
				}
				report.addWaiters(store, size, nanos, servers.requests() - before);
			}
		}
	}

	/** Returns the time from the release before the first waiter to that of the last. */
	private static long pass(LockOperations locks, int waiters) {
		LockRequest request = LockRequest.of("benchmark", "waiters");
		LockHandle first = locks.acquire(request);
		List<CompletableFuture<Void>> waiting = IntStream.range(0, waiters)
			.mapToObj((i) -> locks.acquireAsync(request).toCompletableFuture().thenAccept(LockHandle::close))
			.toList();
		long start = System.nanoTime();
		first.close();
		waiting.forEach(CompletableFuture::join);
		return System.nanoTime() - start;
	}

}
