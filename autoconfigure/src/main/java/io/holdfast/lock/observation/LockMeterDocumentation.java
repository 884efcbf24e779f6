package io.holdfast.lock.observation;

import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.micrometer.common.docs.KeyName;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.binder.BaseUnits;
import io.micrometer.core.instrument.docs.MeterDocumentation;
import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LossCause;
import io.holdfast.lock.spi.AcquireOutcome;
import io.holdfast.lock.spi.RenewalOutcome;

/**
 * The meters of the locks: the vocabulary of dashboards and alerts. Only outermost holds
 * are counted; a re-entrant one is part of them.
 */
public enum LockMeterDocumentation implements MeterDocumentation {

	/**
	 * Time to acquire a lock, or to give up.
	 */
	ACQUIRE("distributed.lock.acquire", Meter.Type.TIMER, Tag.OUTCOME_OF_ACQUISITION,
			"Time to acquire a lock, or to give up"),

	/**
	 * Time to acquire a lock, or to give up, in percent of the lease that was asked for.
	 * Counted apart: up to 50 and up to 100 percent.
	 */
	ACQUIRE_LEASE_RATIO("distributed.lock.acquire.lease.ratio", Meter.Type.DISTRIBUTION_SUMMARY, null,
			"Time to acquire a lock, or to give up, in percent of its lease"),

	/**
	 * Time for which a lock was held.
	 */
	HOLD("distributed.lock.hold", Meter.Type.TIMER, null, "Time for which a lock was held"),

	/**
	 * Time for which a lock was held in percent of its lease; above 100 it lived on
	 * renewals. Counted apart: up to 80 and up to 100 percent.
	 */
	HOLD_LEASE_RATIO("distributed.lock.hold.lease.ratio", Meter.Type.DISTRIBUTION_SUMMARY, null,
			"Time for which a lock was held, in percent of its lease; above 100 it lived on renewals"),

	/**
	 * Locks that this instance holds now.
	 */
	HELD("distributed.lock.held", Meter.Type.GAUGE, null, "Locks that this instance holds"),

	/**
	 * Acquisitions of this instance that are under way now.
	 */
	WAITING("distributed.lock.waiting", Meter.Type.GAUGE, null, "Acquisitions of this instance that are under way"),

	/**
	 * Renewals of leases.
	 */
	RENEWAL("distributed.lock.renewal", Meter.Type.COUNTER, Tag.OUTCOME_OF_RENEWAL, "Renewals of leases"),

	/**
	 * By how much renewals were sent later than they were due: what a machine without
	 * time for its timers takes from the leases.
	 */
	RENEWAL_DELAY("distributed.lock.renewal.delay", Meter.Type.TIMER, null,
			"Time by which a renewal was sent later than it was due"),

	/**
	 * Holds that ended before their holder let go.
	 */
	LOST("distributed.lock.lost", Meter.Type.COUNTER, Tag.CAUSE, "Holds that ended before their holder let go"),

	/**
	 * Commits that were refused, because a lock that they relied on was lost.
	 */
	COMMIT_REFUSED("distributed.lock.commit.refused", Meter.Type.COUNTER, null,
			"Commits that were refused, because a lock that they relied on was lost"),

	/**
	 * Holders that a fence refused, because another had been there meanwhile.
	 */
	FENCING_REJECTED("distributed.lock.fencing.rejected", Meter.Type.COUNTER, null,
			"Holders that a fence refused, because another had been there meanwhile");

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
	 * What it measures, in one sentence.
	 * @return the description
	 */
	public String description() {
		return this.description;
	}

	/**
	 * The tags. Each has few values: the key of a lock is never among them.
	 */
	public enum Tag implements KeyName {

		/**
		 * The fixed part of the lock's name, or {@code other} for names beyond the first
		 * thousand.
		 */
		NAME("name", "the lock's name without its key"),

		/**
		 * The store.
		 */
		BACKEND("backend", "the store, such as `redis`"),

		/**
		 * How an acquisition ended.
		 * @see AcquireOutcome
		 */
		OUTCOME_OF_ACQUISITION("outcome", values(AcquireOutcome.values(), AcquireOutcome::tag)),

		/**
		 * How a renewal ended.
		 * @see RenewalOutcome
		 */
		OUTCOME_OF_RENEWAL("outcome", values(RenewalOutcome.values(), RenewalOutcome::tag)),

		/**
		 * Why a hold was lost.
		 * @see LossCause
		 */
		CAUSE("cause", values(LossCause.values(), LossCause::tag));

		private final String key;

		private final String meaning;

		Tag(String key, String meaning) {
			this.key = key;
			this.meaning = meaning;
		}

		private static <V> String values(V[] values, Function<V, String> tag) {
			return Stream.of(values).map(tag).collect(Collectors.joining("`, `", "`", "`"));
		}

		@Override
		public String asString() {
			return this.key;
		}

		/**
		 * What its value says, or which values it has.
		 * @return the meaning, for the reference
		 */
		public String meaning() {
			return this.meaning;
		}

	}

}
