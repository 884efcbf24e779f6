package io.holdfast.sample;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockHandle;

/**
 * Places orders. Orders for one product run one at a time across all instances; orders
 * for different products do not wait for each other.
 */
@Service
class Orders {

	private final Warehouse warehouse;

	Orders(Warehouse warehouse) {
		this.warehouse = warehouse;
	}

	// tag::place[]
	@DistributedLock(name = "stock", key = "#productId")
	@Transactional
	public Order place(long productId, int quantity, Duration think) {
		return sell(this.warehouse, productId, quantity, think);
	}
	// end::place[]

	/**
	 * Places an order without the lock. Two orders that have read the same stock both
	 * write the result that they computed.
	 */
	@Transactional
	public Order placeUnlocked(long productId, int quantity, Duration think) {
		return sell(this.warehouse, productId, quantity, think);
	}

	// tag::sell[]
	static Order sell(Warehouse warehouse, long productId, int quantity, Duration think) {
		int stock = warehouse.product(productId).stock();
		Pause.of(think);
		int remaining = stock - quantity;
		if (remaining < 0) {
			throw new SoldOutException(productId, quantity, stock);
		}
		warehouse.setStock(productId, remaining);
		Order order = new Order(productId, quantity, remaining, fencingToken());
		warehouse.add(order);
		return order;
	}
	// end::sell[]

	private static @Nullable FencingToken fencingToken() {
		return LockHandle.current().map(LockHandle::fencingToken).orElse(null);
	}

}
