package io.holdfast.lock.backend.redlock;

import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;

import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.support.SchedulingClock;

/**
 * Tokens of the grants that were reported to the engine, each until the grant is released
 * or its lease expires. During the lease, the owner holds a majority of nodes and no
 * other owner can get a greater token. After that, the token must not be used again.
 */
final class NotifiedTokens {

	/**
	 * Removing expired entries requires a pass over all entries, so it happens rarely.
	 */
	private static final int FEWEST_TO_PURGE = 1_000;

	private final Map<OwnerId, Entry> entries = new ConcurrentHashMap<>();

	private final SchedulingClock clock;

	private volatile int purgeAbove = FEWEST_TO_PURGE;

	NotifiedTokens(SchedulingClock clock) {
		this.clock = clock;
	}

	/** Returns the token of the owner's grant if its lease has not expired. */
	OptionalLong find(OwnerId owner) {
		Entry entry = this.entries.get(owner);
		return (entry != null && isValid(entry)) ? OptionalLong.of(entry.token()) : OptionalLong.empty();
	}

	/**
	 * Records a grant.
	 * @param validUntil the end of its validity, in nanoseconds of the clock
	 */
	void put(OwnerId owner, long token, long validUntil) {
		this.entries.put(owner, new Entry(token, validUntil));
		if (this.entries.size() > this.purgeAbove) {
			this.entries.values().removeIf((entry) -> !isValid(entry));
			this.purgeAbove = Math.max(FEWEST_TO_PURGE, 2 * this.entries.size());
		}
	}

	/** Records the renewal of a lease that has not expired. */
	void extend(OwnerId owner, long validUntil) {
		this.entries.computeIfPresent(owner, (key, entry) -> isValid(entry)
				? new Entry(entry.token(), Math.max(entry.validUntil(), validUntil)) : null);
	}

	void remove(OwnerId owner) {
		this.entries.remove(owner);
	}

	int size() {
		return this.entries.size();
	}

	private boolean isValid(Entry entry) {
		return this.clock.nanos() < entry.validUntil();
	}

	/**
	 * A grant.
	 *
	 * @param token its token
	 * @param validUntil the end of its validity, in nanoseconds of the clock
	 */
	private record Entry(long token, long validUntil) {
	}

}
