package io.holdfast.sample;

import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

import io.holdfast.lock.DistributedLock;

/**
 * Sets the stock of a product. It takes the lock of the orders, or an order that has read
 * the stock before would overwrite what was set.
 */
@Service
class Stocktaking {

	private final Warehouse warehouse;

	Stocktaking(Warehouse warehouse) {
		this.warehouse = warehouse;
	}

	@DistributedLock(name = "stock", key = "#productId")
	@Transactional
	public Product set(long productId, int stock) {
		this.warehouse.setStock(productId, stock);
		return new Product(productId, stock);
	}

}
