package io.holdfast.lock.backend.redlock;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.holdfast.lock.support.SchedulingClock;

/**
 * Since when this JVM knows that a node remembers nothing from before. Timed by this
 * JVM's monotonic clock: a node's uptime follows its wall clock and can lie.
 */
final class Quarantine {

	private static final Log logger = LogFactory.getLog(Quarantine.class);

	private final AtomicReference<@Nullable Sight> sight = new AtomicReference<>();

	private final AtomicBoolean ending = new AtomicBoolean();

	private final String address;

	private final SchedulingClock clock;

	Quarantine(String address, SchedulingClock clock) {
		this.address = address;
		this.clock = clock;
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
			logger.warn(
					"Redis at %s remembers nothing of earlier locks: it is new, has restarted or was flushed. It does not vote for %d s, as long as an earlier lock may last."
						.formatted(this.address, length.toSeconds()));
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
	boolean beginToEnd() {
		return this.ending.compareAndSet(false, true);
	}

	void end(boolean admitted) {
		if (admitted) {
			logger.info("Redis at %s votes again.".formatted(this.address));
			this.sight.set(null);
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
