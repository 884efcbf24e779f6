package io.holdfast.sample.sale;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;

import org.springframework.stereotype.Component;

/**
 * The part of this instance in sales. It takes part in one sale at a time: in one that it
 * starts, or in one that another instance with the same database has started.
 */
@Component
class Sales {

	private final Instance instance;

	private final Stores stores;

	private final SaleRecords records;

	private final Buyers buyers;

	private final AtomicBoolean selling = new AtomicBoolean();

	private volatile @Nullable Part part;

	Sales(Instance instance, Stores stores, SaleRecords records, Buyers buyers) {
		this.instance = instance;
		this.stores = stores;
		this.records = records;
		this.buyers = buyers;
	}

	/**
	 * Starts a sale.
	 * @param mode how the buyers lock the stock
	 * @param store the store that keeps their lock
	 * @param buyers the number of buyers of each instance that takes part
	 * @return the sale
	 * @throws SaleInProgressException if another sale is in progress
	 */
	Sale start(SaleMode mode, String store, int buyers) {
		this.stores.require(store);
		if (!this.selling.compareAndSet(false, true)) {
			throw new SaleInProgressException();
		}
		try {
			Sale sale = this.records.open(mode, store, buyers, this.instance.id());
			this.part = new Part(sale, this.buyers.order(sale));
			return sale;
		}
		finally {
			this.selling.set(this.part != null);
		}
	}

	/** Takes part in a sale of another instance if possible; otherwise does nothing. */
	void join(Sale sale) {
		if (sale.startedBy().equals(this.instance.id()) || !this.stores.contains(sale.store())
				|| !this.selling.compareAndSet(false, true)) {
			return;
		}
		try {
			if (this.records.join(sale)) {
				this.part = new Part(sale, this.buyers.order(sale));
			}
		}
		finally {
			this.selling.set(this.part != null);
		}
	}

	boolean isSelling() {
		return this.selling.get();
	}

	/** Returns whether all buyers of this instance have reported their last step. */
	boolean isDone() {
		Part current = this.part;
		return current != null && current.orders().isDone();
	}

	/** Ends the part of this instance, once the events of its buyers are recorded. */
	void leave() {
		this.records.leave(Objects.requireNonNull(this.part).sale());
		this.part = null;
		this.selling.set(false);
	}

	/** Waits until the buyers that have started are done. No others start. */
	void close() throws InterruptedException {
		this.buyers.close();
	}

	/**
	 * The part of this instance in a sale.
	 *
	 * @param sale the sale
	 * @param orders completes when all buyers are done
	 */
	private record Part(Sale sale, CompletableFuture<Void> orders) {
	}

}
