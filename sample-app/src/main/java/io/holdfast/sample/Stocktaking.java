package io.holdfast.sample;

import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

import io.holdfast.lock.DistributedLock;

/**
 * Sets the stock of a product. It acquires the same lock as the orders, because an order
 * that has read the stock before would overwrite the new value.
 */
@Service
class Stocktaking {

	private final Warehouse warehouse;

	Stocktaking(Warehouse warehouse) {
		this.warehouse = warehouse;
	}

	// tag::set[]
	@DistributedLock(name = "stock", key = "#productId")
	@Transactional
	public Product set(long productId, int stock) {
		this.warehouse.setStock(productId, stock);
		return new Product(productId, stock);
	}
	// end::set[]

}
