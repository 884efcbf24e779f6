package io.holdfast.sample.sale;

import java.time.Duration;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockRequest;

/**
 * A buyer, who reports each of its steps. Reporting only adds to a queue in memory, so it
 * does not delay the sale.
 */
final class Buyer {

	private final Sale sale;

	private final String instance;

	private final int number;

	private final LockRequest lock;

	private final Duration think;

	private final Consumer<SaleEvent> log;

	/**
	 * Creates a buyer.
	 * @param sale the sale
	 * @param instance the instance whose buyer it is
	 * @param number the number of the buyer
	 * @param lock the lock of the stock
	 * @param think how long the buyer takes between reading and writing
	 * @param log receives the steps
	 */
	Buyer(Sale sale, String instance, int number, LockRequest lock, Duration think, Consumer<SaleEvent> log) {
		this.sale = sale;
		this.instance = instance;
		this.number = number;
		this.lock = lock;
		this.think = think;
		this.log = log;
	}

	LockRequest lock() {
		return this.lock;
	}

	Duration think() {
		return this.think;
	}

	void waits() {
		report(SaleStep.WAITS, null, null, null);
	}

	void acquired(LockHandle lock) {
		report(SaleStep.ACQUIRED, null, lock.fencingToken().toString(), null);
	}

	void read(int stock) {
		report(SaleStep.READ, stock, null, null);
	}

	void paused() {
		report(SaleStep.PAUSED, null, null, null);
	}

	void lost() {
		report(SaleStep.LOST, null, null, null);
	}

	void wrote(int stock) {
		report(SaleStep.WROTE, stock, null, null);
	}

	void released() {
		report(SaleStep.RELEASED, null, null, null);
	}

	void sold() {
		report(SaleStep.SOLD, null, null, null);
	}

	void refused(Exception reason) {
		report(SaleStep.REFUSED, null, null, reason.getMessage());
	}

	void failed(Exception reason) {
		report(SaleStep.FAILED, null, null, String.valueOf(reason.getMessage()));
	}

	private void report(SaleStep step, @Nullable Integer stock, @Nullable String token, @Nullable String detail) {
		this.log.accept(new SaleEvent(this.sale.id(), this.instance, this.number, step, stock, token, detail));
	}

}
