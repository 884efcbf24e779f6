package io.holdfast.sample;

import java.util.Map;
import java.util.concurrent.CompletableFuture;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests that a delivery is booked under the locks of all of its products or not at all.
 */
class GoodsReceiptsTests {

	@AutoClose
	private static final RunningSample sample = RunningSample.start();

	@Test
	void deliveryIsAddedToTheStockOfEachProduct() {
		sample.setStock(1, 10);
		sample.setStock(2, 20);
		sample.bean(GoodsReceipts.class).announce(Map.of(1L, 5, 2L, 7));
		Awaitility.await().untilAsserted(() -> {
			assertThat(sample.stock(1)).isEqualTo(15);
			assertThat(sample.stock(2)).isEqualTo(27);
		});
	}

	@Test
	void deliveryWaitsWhileOneProductIsLocked() {
		sample.setStock(3, 10);
		sample.setStock(4, 20);
		GoodsReceipts receipts = sample.bean(GoodsReceipts.class);
		try (LockHandle order = sample.bean(LockOperations.class).acquire(LockRequest.of("stock", 4))) {
			receipts.announce(Map.of(3L, 5, 4L, 7));
			CompletableFuture.runAsync(receipts::bookAll).join();
			assertThat(sample.stock(3)).isEqualTo(10);
			assertThat(sample.stock(4)).isEqualTo(20);
		}
		Awaitility.await().untilAsserted(() -> {
			assertThat(sample.stock(3)).isEqualTo(15);
			assertThat(sample.stock(4)).isEqualTo(27);
		});
	}

	@Test
	void deliveryOfAnUnknownProductIsRefused() {
		assertThatExceptionOfType(UnknownProductException.class)
			.isThrownBy(() -> sample.bean(GoodsReceipts.class).announce(Map.of(999L, 1)));
	}

}
