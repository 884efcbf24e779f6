package io.holdfast.sample.sale;

import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;
import org.springframework.stereotype.Component;

import io.holdfast.lock.LockLostException;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.StaleFencingTokenException;
import io.holdfast.sample.Pause;

/**
 * The buyers of this instance. They come eight at a time, which leaves connections in the
 * pool for a store that keeps its locks in the same database.
 */
@Component
class Buyers {

	private static final int AT_A_TIME = 8;

	private static final Duration BETWEEN_ARRIVALS = Duration.ofMillis(40);

	/** The time that all buyers of a sale take, one after another. */
	private static final Duration WORK = Duration.ofSeconds(5);

	private static final int SHORTEST_THINK_MILLIS = 100;

	private static final int LONGEST_THINK_MILLIS = 300;

	private static final Duration WAIT_TIME = Duration.ofSeconds(10);

	private static final Duration SHORT_LEASE = Duration.ofSeconds(1);

	/** A buyer that comes later than this orders nothing. */
	private static final Duration LONGEST_SALE = Duration.ofSeconds(30);

	private final Instance instance;

	private final Stores stores;

	private final Checkout checkout;

	private final SaleFeed feed;

	private final ExecutorService threads = Executors.newFixedThreadPool(AT_A_TIME,
			new CustomizableThreadFactory("buyer-"));

	private volatile boolean stopping;

	Buyers(Instance instance, Stores stores, Checkout checkout, SaleFeed feed) {
		this.instance = instance;
		this.stores = stores;
		this.checkout = checkout;
		this.feed = feed;
	}

	/**
	 * Makes all buyers of this instance order one piece each.
	 * @param sale the sale
	 * @return completes when all of them are done, and never exceptionally
	 */
	CompletableFuture<Void> order(Sale sale) {
		long start = System.nanoTime();
		return CompletableFuture.allOf(IntStream.rangeClosed(1, sale.buyers())
			.mapToObj((number) -> CompletableFuture.runAsync(() -> order(sale, number, start), this.threads))
			.toArray(CompletableFuture[]::new));
	}

	private void order(Sale sale, int number, long start) {
		Buyer buyer = buyer(sale, number);
		try {
			if (number <= AT_A_TIME) {
				Pause.of(BETWEEN_ARRIVALS.multipliedBy(number - 1L));
			}
			if (this.stopping || System.nanoTime() - start > LONGEST_SALE.toNanos()) {
				throw new IllegalStateException("The sale ended before this buyer's turn");
			}
			order(sale, number, buyer);
		}
		catch (LockLostException | StaleFencingTokenException ex) {
			buyer.refused(ex);
		}
		catch (RuntimeException | SQLException ex) {
			buyer.failed(ex);
		}
	}

	private void order(Sale sale, int number, Buyer buyer) throws SQLException {
		switch (sale.mode()) {
			case NONE -> this.checkout.withoutLock(buyer);
			case INSIDE -> this.checkout.lockInside(buyer);
			case HOLDFAST -> this.checkout.lockOutside(buyer);
			case PAUSED -> {
				if (number == pausedBuyer(sale)) {
					Duration lease = lease(sale.store());
					this.checkout.lockOutsideAndPause(buyer, lease, lease.plusMillis(3L * LONGEST_THINK_MILLIS));
				}
				else {
					this.checkout.lockOutside(buyer);
				}
			}
		}
	}

	/** Returns the buyer that pauses: an early one, so that others come after it. */
	private int pausedBuyer(Sale sale) {
		if (!sale.startedBy().equals(this.instance.id())) {
			return 0;
		}
		return (sale.buyers() > 3) ? 3 : 1;
	}

	private Duration lease(String store) {
		Duration shortest = this.stores.shortestLease(store);
		return (shortest.compareTo(SHORT_LEASE) > 0) ? shortest : SHORT_LEASE;
	}

	private Buyer buyer(Sale sale, int number) {
		LockRequest lock = LockRequest.forLock(LockName.of("stock", Sale.PRODUCT))
			.backend(sale.store())
			.waitTime(WAIT_TIME)
			.build();
		long millis = Math.max(SHORTEST_THINK_MILLIS, Math.min(LONGEST_THINK_MILLIS, WORK.toMillis() / sale.buyers()));
		// from half to one and a half of that, as no two buyers take the same time
		long think = ThreadLocalRandom.current().nextLong(millis / 2, millis + millis / 2);
		return new Buyer(sale, this.instance.id(), number, lock, Duration.ofMillis(think), this.feed::report);
	}

	@EventListener(ContextClosedEvent.class)
	void stopSelling() {
		this.stopping = true;
	}

	/** Waits until the buyers that have started are done. */
	void close() throws InterruptedException {
		this.threads.shutdown();
		this.threads.awaitTermination(WAIT_TIME.toMillis(), TimeUnit.MILLISECONDS);
	}

}
