package io.holdfast.lock.backend.redlock;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.support.SchedulingClock;

/**
 * Measures how long this JVM has known that a node lost its memory of earlier locks. Uses
 * this JVM's monotonic clock: a node's uptime follows its wall clock and can be wrong.
 */
final class Quarantine {

	private final AtomicReference<@Nullable Sighting> sight = new AtomicReference<>();

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
	 * Records that the node has a memory that is not admitted.
	 * @param memory its name; a new name is a new memory and restarts the time
	 * @param length the length of the quarantine
	 * @return the remaining quarantine; zero or less if it has passed
	 */
	Duration remaining(String memory, Duration length) {
		Sighting now = new Sighting(memory, this.clock.nanos());
		Sighting before = this.sight.getAndUpdate((present) -> now.isOf(present) ? present : now);
		if (before == null || !now.isOf(before)) {
			this.log.started(this.address, length);
			return length;
		}
		return length.minusNanos(now.since() - before.since());
	}

	/** Returns the remaining quarantine as of the last response, for messages. */
	@Nullable Duration remaining(Duration length) {
		Sighting present = this.sight.get();
		return (present != null) ? length.minusNanos(this.clock.nanos() - present.since()) : null;
	}

	/**
	 * Starts the admission of the node, which only one caller at a time needs to perform.
	 */
	boolean tryStartAdmission() {
		return this.ending.compareAndSet(false, true);
	}

	void end(boolean admitted) {
		if (admitted) {
			voted();
		}
		this.ending.set(false);
	}

	/** Records that the node votes. Any client may have admitted it. */
	void voted() {
		if (this.sight.get() != null && this.sight.getAndSet(null) != null) {
			this.log.ended(this.address);
		}
	}

	/**
	 * The first sighting of a memory.
	 *
	 * @param memory its name
	 * @param since the time on the monotonic clock, in nanoseconds
	 */
	private record Sighting(String memory, long since) {

		boolean isOf(@Nullable Sighting other) {
			return other != null && other.memory().equals(this.memory);
		}

	}

}
