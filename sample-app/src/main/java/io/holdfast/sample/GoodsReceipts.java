package io.holdfast.sample;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;

import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Service;
import org.springframework.transaction.support.TransactionOperations;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;

/**
 * Adds deliveries to the stock. A delivery contains any number of products, which are
 * known only when it arrives.
 */
@Service
class GoodsReceipts {

	/** The open deliveries: quantities by product id. */
	private final Queue<Map<Long, Integer>> open = new ConcurrentLinkedQueue<>();

	private final LockOperations locks;

	private final TransactionOperations transaction;

	private final Warehouse warehouse;

	GoodsReceipts(LockOperations locks, TransactionOperations transaction, Warehouse warehouse) {
		this.locks = locks;
		this.transaction = transaction;
		this.warehouse = warehouse;
	}

	/**
	 * Adds a delivery to the open ones.
	 * @param quantities the quantities by product id
	 */
	void announce(Map<Long, Integer> quantities) {
		quantities.keySet().forEach(this.warehouse::product);
		this.open.add(quantities);
	}

	// tag::book[]
	/**
	 * Books the open deliveries and keeps those with a locked product for the next run.
	 */
	@Scheduled(fixedDelay = 1, timeUnit = TimeUnit.SECONDS)
	void bookAll() {
		this.open.removeIf(this::book);
	}

	private boolean book(Map<Long, Integer> delivery) {
		List<LockName> products = delivery.keySet().stream().map((id) -> LockName.of("stock", id)).toList();
		Optional<LockHandle> acquired = this.locks.tryAcquire(LockRequest.forLocks(products).build());
		if (acquired.isEmpty()) {
			return false; // another instance, or an order, works on one of the products
		}
		try (LockHandle handle = acquired.get()) {
			this.transaction.executeWithoutResult((status) -> delivery.forEach(this::add));
			return true;
		}
	}
	// end::book[]

	private void add(long productId, int quantity) {
		int stock = this.warehouse.product(productId).stock();
		this.warehouse.setStock(productId, stock + quantity);
	}

}
