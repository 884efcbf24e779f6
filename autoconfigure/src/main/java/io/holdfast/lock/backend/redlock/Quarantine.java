package io.holdfast.lock.backend.redlock;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.support.SchedulingClock;

/**
 * Since when this JVM knows that a node remembers nothing from before. Timed by this
 * JVM's monotonic clock: a node's uptime follows its wall clock and can lie.
 */
final class Quarantine {

	private final AtomicReference<@Nullable Sight> sight = new AtomicReference<>();

	private final AtomicBoolean ending = new AtomicBoolean();

	private final String address;

	private final SchedulingClock clock;

	private final QuarantineLog log;

	Quarantine(String address, SchedulingClock clock, QuarantineLog log) {
		this.address = address;
		this.clock = clock;
		this.log = log;
	}

	/**
	 * The node has a memory that does not count.
	 * @param memory its name; another name is another memory, and time starts anew
	 * @param length how long to keep it out
	 * @return how much of that is left; zero or less if it is over
	 */
	Duration remaining(String memory, Duration length) {
		Sight now = new Sight(memory, this.clock.nanos());
		Sight before = this.sight.getAndUpdate((present) -> now.isOf(present) ? present : now);
		if (before == null || !now.isOf(before)) {
			this.log.begins(this.address, length);
			return length;
		}
		return length.minusNanos(now.since() - before.since());
	}

	/** What the last answer made of it, for messages. */
	@Nullable Duration remaining(Duration length) {
		Sight present = this.sight.get();
		return (present != null) ? length.minusNanos(this.clock.nanos() - present.since()) : null;
	}

	/** Only one at a time need see to the end of the quarantine. */
	boolean tryStartAdmission() {
		return this.ending.compareAndSet(false, true);
	}

	void end(boolean admitted) {
		if (admitted) {
			this.sight.set(null);
			this.log.ends(this.address);
		}
		this.ending.set(false);
	}

	/**
	 * When a memory was first seen.
	 *
	 * @param memory its name
	 * @param since when, on the monotonic clock
	 */
	private record Sight(String memory, long since) {

		boolean isOf(@Nullable Sight other) {
			return other != null && other.memory().equals(this.memory);
		}

	}

}
