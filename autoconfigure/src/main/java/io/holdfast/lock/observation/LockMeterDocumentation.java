package io.holdfast.lock.observation;

import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.micrometer.common.KeyValue;
import io.micrometer.common.docs.KeyName;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.binder.BaseUnits;
import io.micrometer.core.instrument.docs.MeterDocumentation;
import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LossCause;
import io.holdfast.lock.spi.observation.AcquireOutcome;
import io.holdfast.lock.spi.observation.RenewalOutcome;

/**
 * Meters of locks, for dashboards and alerts. They count outermost holds only; a
 * reentrant hold is part of its outer hold.
 */
public enum LockMeterDocumentation implements MeterDocumentation {

	/**
	 * Time until a lock is acquired or the attempt fails.
	 */
	ACQUIRE("distributed.lock.acquire", Meter.Type.TIMER, Tag.OUTCOME_OF_ACQUISITION,
			"Time until a lock is acquired or the attempt fails"),

	/**
	 * Time until a lock is acquired or the attempt fails, as a percentage of its lease
	 * time. Has buckets for 1, 5, 10, 25, 50, 75 and 100 percent.
	 */
	ACQUIRE_LEASE_RATIO("distributed.lock.acquire.lease.ratio", Meter.Type.DISTRIBUTION_SUMMARY, null,
			"Time until a lock is acquired or the attempt fails, as a percentage of its lease"),

	/**
	 * Time for which a lock was held.
	 */
	HOLD("distributed.lock.hold", Meter.Type.TIMER, null, "Time for which a lock was held"),

	/**
	 * Time for which a lock was held, as a percentage of its lease; above 100 the lease
	 * was renewed. Has buckets for 10, 25, 50, 80, 100 and 200 percent.
	 */
	HOLD_LEASE_RATIO("distributed.lock.hold.lease.ratio", Meter.Type.DISTRIBUTION_SUMMARY, null,
			"Time for which a lock was held, as a percentage of its lease; above 100 the lease was renewed"),

	/**
	 * Locks that this instance holds now. A lost one counts until its caller has closed
	 * it, since its code may still run.
	 */
	HELD("distributed.lock.held", Meter.Type.GAUGE, null,
			"Locks that this instance holds, including lost ones that are not closed yet"),

	/**
	 * Acquisitions of this instance that are in progress.
	 */
	WAITING("distributed.lock.waiting", Meter.Type.GAUGE, null, "Acquisitions of this instance that are in progress"),

	/**
	 * Acquisitions that took over the lease of the holder before them in this instance,
	 * without a request to the store.
	 */
	HANDOFF("distributed.lock.handoff", Meter.Type.COUNTER, null,
			"Acquisitions that took over the lease of the holder before them in this instance"),

	/**
	 * Renewals of leases.
	 */
	RENEWAL("distributed.lock.renewal", Meter.Type.COUNTER, Tag.OUTCOME_OF_RENEWAL, "Renewals of leases"),

	/**
	 * Delay between the time a renewal was due and the time it was sent, as caused by an
	 * overloaded machine.
	 */
	RENEWAL_DELAY("distributed.lock.renewal.delay", Meter.Type.TIMER, null,
			"Delay between the time a renewal was due and the time it was sent"),

	/**
	 * Holds that were lost before their holder released them.
	 */
	LOST("distributed.lock.lost", Meter.Type.COUNTER, Tag.CAUSE,
			"Holds that were lost before their holder released them"),

	/**
	 * Commits that were rejected because their lock was lost.
	 */
	COMMIT_REFUSED("distributed.lock.commit.refused", Meter.Type.COUNTER, null,
			"Commits that were rejected because their lock was lost"),

	/**
	 * Stale holders that a fence rejected.
	 */
	FENCING_REJECTED("distributed.lock.fencing.rejected", Meter.Type.COUNTER, null,
			"Stale holders that a fence rejected");

	private final String meterName;

	private final Meter.Type type;

	private final KeyName[] tags;

	private final String description;

	LockMeterDocumentation(String meterName, Meter.Type type, @Nullable Tag own, String description) {
		this.meterName = meterName;
		this.type = type;
		this.tags = (own != null) ? new KeyName[] { Tag.NAME, Tag.BACKEND, own }
				: new KeyName[] { Tag.NAME, Tag.BACKEND };
		this.description = description;
	}

	@Override
	public String getName() {
		return this.meterName;
	}

	@Override
	public Meter.Type getType() {
		return this.type;
	}

	@Override
	public KeyName[] getKeyNames() {
		return this.tags.clone();
	}

	@Override
	public @Nullable String getBaseUnit() {
		return (this.type == Meter.Type.DISTRIBUTION_SUMMARY) ? BaseUnits.PERCENT : null;
	}

	/**
	 * Returns a one-sentence description.
	 * @return the description
	 */
	public String description() {
		return this.description;
	}

	/**
	 * Tags of the meters. Each has few values; the key of a lock is never a tag.
	 */
	public enum Tag implements KeyName {

		/**
		 * The fixed part of the lock's name, or {@code other} for names beyond the limit
		 * of the observer.
		 */
		NAME("name", "the lock's name without its key"),

		/**
		 * The name of the backend.
		 */
		BACKEND("backend", "the backend, such as `redis`"),

		/**
		 * The outcome of an acquisition.
		 * @see AcquireOutcome
		 */
		OUTCOME_OF_ACQUISITION("outcome", values(AcquireOutcome.values())),

		/**
		 * The outcome of a renewal.
		 * @see RenewalOutcome
		 */
		OUTCOME_OF_RENEWAL("outcome", values(RenewalOutcome.values())),

		/**
		 * The cause of a loss.
		 * @see LossCause
		 */
		CAUSE("cause", values(LossCause.values()));

		private final String key;

		private final String meaning;

		Tag(String key, String meaning) {
			this.key = key;
			this.meaning = meaning;
		}

		private static String values(Enum<?>[] values) {
			return Stream.of(values).map(Tag::textOf).collect(Collectors.joining("`, `", "`", "`"));
		}

		private static String textOf(Enum<?> value) {
			return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
		}

		/** Returns this tag with a constant as its value, such as {@code max-hold}. */
		KeyValue withValue(Enum<?> value) {
			return withValue(textOf(value));
		}

		@Override
		public String asString() {
			return this.key;
		}

		/**
		 * Returns the meaning of the tag, or its values.
		 * @return the meaning
		 */
		public String meaning() {
			return this.meaning;
		}

	}

}
