package io.holdfast.sample.sale;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import org.jspecify.annotations.Nullable;

import org.springframework.stereotype.Component;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

/**
 * Tells the browsers what happens in the latest sale: first its state, then each event,
 * then the result. Buyers add their events to a queue. One thread, that of the
 * {@link SaleClock}, does everything else.
 */
@Component
class SaleFeed {

	private final Instance instance;

	private final Watchers watchers;

	private final Queue<SaleEvent> reported = new ConcurrentLinkedQueue<>();

	private final Queue<SseEmitter> arriving = new ConcurrentLinkedQueue<>();

	private final List<SaleEvent> events = new ArrayList<>();

	/** The number of events seen of each instance. */
	private final Map<String, Integer> seen = new HashMap<>();

	private @Nullable Sale sale;

	private @Nullable SaleResult result;

	SaleFeed(Instance instance, Watchers watchers) {
		this.instance = instance;
		this.watchers = watchers;
	}

	/** Adds an event of a buyer of this instance. Called by its thread. */
	void report(SaleEvent event) {
		this.reported.add(event);
	}

	/** Returns a stream that starts with the state of the latest sale. */
	SseEmitter watch() {
		SseEmitter watcher = this.watchers.open();
		this.arriving.add(watcher);
		return watcher;
	}

	/** Returns whether a browser watches, or has just asked for a stream. */
	boolean isWatched() {
		return !this.watchers.isEmpty() || !this.arriving.isEmpty();
	}

	/**
	 * Returns the events that buyers of this instance have reported since the last call.
	 */
	List<SaleEvent> takeReported() {
		List<SaleEvent> taken = new ArrayList<>();
		for (SaleEvent event = this.reported.poll(); event != null; event = this.reported.poll()) {
			taken.add(event);
		}
		return taken;
	}

	/**
	 * Shows a sale.
	 * @param latest the latest sale
	 * @return whether it was not shown before
	 */
	boolean show(Sale latest) {
		if (latest.equals(this.sale)) {
			return false;
		}
		this.sale = latest;
		this.result = null;
		this.events.clear();
		this.seen.clear();
		this.watchers.send("state", state());
		return true;
	}

	/**
	 * Shows the events that are new.
	 * @param recorded all events of the sale that the database has. The order is that of
	 * each instance; events of another one may appear between those seen before
	 */
	void add(List<SaleEvent> recorded) {
		List<SaleEvent> added = new ArrayList<>();
		Map<String, Integer> passed = new HashMap<>();
		for (SaleEvent event : recorded) {
			int position = passed.merge(event.instance(), 1, Integer::sum);
			if (position > this.seen.getOrDefault(event.instance(), 0)) {
				added.add(event);
			}
		}
		this.seen.putAll(passed);
		if (!added.isEmpty()) {
			this.events.addAll(added);
			this.watchers.send("events", added);
		}
	}

	boolean hasResult() {
		return this.result != null;
	}

	void end(SaleResult result) {
		this.result = result;
		this.watchers.send("result", result);
	}

	/** Sends the state to the browsers that have just arrived. */
	void welcome() {
		for (SseEmitter watcher = this.arriving.poll(); watcher != null; watcher = this.arriving.poll()) {
			this.watchers.add(watcher, state());
		}
	}

	private State state() {
		return new State(this.instance.id(), this.sale, List.copyOf(this.events), this.result);
	}

	/**
	 * All that a browser needs to show the latest sale.
	 *
	 * @param instance the instance that the browser talks to
	 * @param sale the sale; {@code null} if there was none yet
	 * @param events its events so far
	 * @param result its result; {@code null} until it is over
	 */
	private record State(String instance, @Nullable Sale sale, List<SaleEvent> events, @Nullable SaleResult result) {
	}

}
