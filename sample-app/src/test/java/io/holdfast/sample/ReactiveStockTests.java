package io.holdfast.sample;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockInspector;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that a reactive chain holds a lock until its work is done.
 */
class ReactiveStockTests {

	@AutoClose
	private static final RunningSample sample = RunningSample.start();

	@Test
	void concurrentSalesLoseNoUpdate() {
		ReactiveStock stock = new ReactiveStock(sample.bean(LockOperations.class));
		stock.items.put(42L, 100);
		Flux.range(0, 20).flatMap((buyer) -> stock.sell(42, 1)).blockLast(Duration.ofMinutes(1));
		assertThat(stock.items).containsEntry(42L, 80);
	}

	@Test
	void actionSeesTheContextOfItsChain() {
		ReactiveStock stock = new ReactiveStock(sample.bean(LockOperations.class));
		stock.items.put(44L, 1);
		stock.sell(44, 1).contextWrite(Context.of("buyer", "Ada")).block(Duration.ofMinutes(1));
		assertThat(stock.buyers).containsEntry(44L, "Ada");
	}

	@Test
	void cancelledChainLeavesTheQueue() {
		LockOperations locks = sample.bean(LockOperations.class);
		LockInspector inspector = sample.bean(LockInspector.class);
		try (LockHandle other = locks.acquire(LockRequest.of("stock", 43))) {
			Disposable chain = new ReactiveStock(locks).sell(43, 1).subscribe();
			Awaitility.await().until(() -> !inspector.waiting().isEmpty());
			chain.dispose();
			Awaitility.await().until(() -> inspector.waiting().isEmpty());
			assertThat(other.isHeld()).isTrue();
		}
	}

	/**
	 * A stock that reads and writes without blocking.
	 */
	private static final class ReactiveStock {

		private final Map<Long, Integer> items = new ConcurrentHashMap<>();

		private final Map<Long, String> buyers = new ConcurrentHashMap<>();

		private final LockOperations locks;

		ReactiveStock(LockOperations locks) {
			this.locks = locks;
		}

		// tag::sell[]
		Mono<Integer> sell(long productId, int quantity) {
			LockRequest request = LockRequest.forLock(LockName.of("stock", productId))
				.waitTime(Duration.ofMinutes(1))
				.build();
			return Mono.deferContextual((context) -> Mono.fromCompletionStage(() -> this.locks.executeAsync(request,
					(handle) -> take(productId, quantity).contextWrite(context).toFuture())));
		}
		// end::sell[]

		/** Reads, and writes a moment later, so that sales without a lock overlap. */
		private Mono<Integer> take(long productId, int quantity) {
			return Mono.deferContextual((context) -> {
				this.buyers.put(productId, context.getOrDefault("buyer", "unknown"));
				return Mono.fromSupplier(() -> this.items.get(productId));
			})
				.delayElement(Duration.ofMillis(5))
				.map((stock) -> stock - quantity)
				.doOnNext((left) -> this.items.put(productId, left));
		}

	}

}
