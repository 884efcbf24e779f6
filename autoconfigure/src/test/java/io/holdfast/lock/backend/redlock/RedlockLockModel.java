package io.holdfast.lock.backend.redlock;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

/**
 * The state of one lock in a {@link RedlockNodeModel}.
 */
final class RedlockLockModel {

	private static final long STEP_MILLIS = 50;

	/** The leases by their owners. */
	final Map<String, Part> parts = new TreeMap<>();

	/** The wait queue by its owners. */
	final Map<String, QueuePosition> positions = new TreeMap<>();

	/** The last token. */
	long token;

	void tidy(long now) {
		this.parts.values().removeIf((part) -> part.ends() <= now);
		this.positions.values().removeIf((position) -> position.ends() <= now);
	}

	boolean isUsed() {
		return !this.parts.isEmpty() || !this.positions.isEmpty();
	}

	/** Returns the waiters and their positions, the first one first. */
	List<Map.Entry<String, QueuePosition>> inOrder() {
		return this.positions.entrySet()
			.stream()
			.sorted(Comparator.comparing((Map.Entry<String, QueuePosition> waiter) -> waiter.getValue().number())
				.thenComparing(Map.Entry::getKey))
			.toList();
	}

	boolean hasOtherWaiter(String owner) {
		return this.positions.keySet().stream().anyMatch((waiter) -> !waiter.equals(owner));
	}

	/** Returns the owner that blocks a claim, or {@code null}. */
	@Nullable String blocker(String owner, boolean shared) {
		for (Map.Entry<String, Part> part : this.parts.entrySet()) {
			if (!part.getValue().shared()) {
				return part.getKey();
			}
		}
		if (!shared && !this.parts.isEmpty()) {
			return "readers " + String.join(" ", this.parts.keySet());
		}
		for (Map.Entry<String, QueuePosition> waiter : inOrder()) {
			if (waiter.getKey().equals(owner)) {
				return null;
			}
			QueuePosition position = waiter.getValue();
			if (!(shared && position.shared()) && (shared || position.number() == 0)) {
				return waiter.getKey();
			}
		}
		return null;
	}

	/** Returns how long others hold the lock at most, in milliseconds, or -1. */
	long rest(boolean shared, long now) {
		return this.parts.values()
			.stream()
			.filter((part) -> !(shared && part.shared()))
			.mapToLong((part) -> part.ends() - now)
			.max()
			.orElse(-1);
	}

	/**
	 * Keeps, appends or removes the owner's position in the wait queue.
	 * @param attempt the number of its attempt
	 * @param kept how long a release may keep the lock for it
	 * @param claim its mode, how long it keeps the position, how long it has waited, and
	 * its instance
	 */
	void updatePosition(String owner, long now, long attempt, long kept, List<String> claim) {
		QueuePosition present = this.positions.remove(owner);
		long millis = Long.parseLong(claim.get(1));
		if (millis > 0) {
			long number = Math.max(1, (now - Long.parseLong(claim.get(2))) / STEP_MILLIS);
			boolean keeps = present != null && present.number() > 0;
			this.positions.put(owner, new QueuePosition(keeps ? Math.min(present.number(), number) : number,
					claim.get(0).equals("SHARED"), (present != null) ? Math.max(present.attempt(), attempt) : attempt,
					kept, claim.get(3), now + millis));
		}
	}

	@Override
	public String toString() {
		return this.parts + " " + inOrder();
	}

	/**
	 * A lease on the node.
	 *
	 * @param channel the channel of its instance if it is sticky, else {@code null}
	 */
	record Part(boolean shared, long attempt, long token, long ends, @Nullable String channel) {

		Part with(long token, long ends) {
			return new Part(this.shared, this.attempt, token, ends, this.channel);
		}

	}

	/**
	 * A position in the wait queue.
	 *
	 * @param number orders the waiters; zero if the waiter was notified
	 * @param attempt the number of the latest attempt
	 * @param kept how long a release may keep the lock for the waiter
	 */
	record QueuePosition(long number, boolean shared, long attempt, long kept, String instance, long ends) {

		QueuePosition notified(long ends) {
			return new QueuePosition(0, this.shared, this.attempt, 0, this.instance, ends);
		}

	}

}
