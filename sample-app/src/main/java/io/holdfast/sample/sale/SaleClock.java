package io.holdfast.sample.sale;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

import jakarta.annotation.PreDestroy;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.scheduling.concurrent.CustomizableThreadFactory;
import org.springframework.stereotype.Component;

/**
 * Carries the events of a sale to the database and to the browsers, ten times a second
 * and on a thread of its own, so that the buyers never wait for it. Does nothing while
 * there is no sale here and no browser watches.
 */
@Component
class SaleClock {

	private static final Logger logger = LoggerFactory.getLogger(SaleClock.class);

	private static final int TICK_MILLIS = 100;

	private static final int TICKS_BETWEEN_PINGS = 10;

	private final SaleRecords records;

	private final SaleFeed feed;

	private final Sales sales;

	private final Watchers watchers;

	/** Events of this instance that the database does not have yet. */
	private final List<SaleEvent> unrecorded = new ArrayList<>();

	private final ScheduledExecutorService thread = Executors
		.newSingleThreadScheduledExecutor(new CustomizableThreadFactory("sale-clock-"));

	private boolean failing;

	private int ticks;

	SaleClock(SaleRecords records, SaleFeed feed, Sales sales, Watchers watchers) {
		this.records = records;
		this.feed = feed;
		this.sales = sales;
		this.watchers = watchers;
	}

	@EventListener(ApplicationReadyEvent.class)
	void start() {
		this.thread.scheduleWithFixedDelay(this::tick, TICK_MILLIS, TICK_MILLIS, TimeUnit.MILLISECONDS);
	}

	private void tick() {
		if (!this.sales.isSelling() && !this.feed.isWatched()) {
			return;
		}
		try {
			record();
			this.records.latest().ifPresent(this::show);
			this.feed.welcome();
			if (++this.ticks % TICKS_BETWEEN_PINGS == 0) {
				this.watchers.ping();
			}
			this.failing = false;
		}
		catch (RuntimeException ex) {
			if (!this.failing) {
				logger.warn("The page cannot show the sale. Trying again.", ex);
			}
			this.failing = true;
		}
	}

	private void record() {
		boolean done = this.sales.isDone(); // then the reported events are the last ones
		this.unrecorded.addAll(this.feed.takeReported());
		if (!this.unrecorded.isEmpty()) {
			this.records.add(this.unrecorded);
			this.unrecorded.clear();
		}
		if (done) {
			this.sales.leave();
		}
	}

	private void show(Sale sale) {
		if (this.feed.show(sale)) {
			this.sales.join(sale);
		}
		if (!this.feed.hasResult()) {
			boolean over = this.records.isOver(sale); // then the recorded events are all
			this.feed.add(this.records.events(sale));
			if (over) {
				this.feed.end(this.records.result(sale));
			}
		}
	}

	@EventListener(ContextClosedEvent.class)
	void endStreams() {
		this.watchers.close();
	}

	/** Ends the part of this instance in a sale, so that others need not wait for it. */
	@PreDestroy
	void stop() throws InterruptedException {
		this.thread.shutdown();
		this.thread.awaitTermination(1, TimeUnit.SECONDS);
		this.sales.close();
		tick();
	}

}
