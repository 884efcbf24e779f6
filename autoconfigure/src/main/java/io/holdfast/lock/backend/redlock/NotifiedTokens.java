package io.holdfast.lock.backend.redlock;

import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;

import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.support.SchedulingClock;

/**
 * The tokens of grants that the engine was notified of, each until its lease ends or the
 * grant is released. While the lease lasts, a majority of nodes belongs to the owner and
 * no other owner can get a greater token. After that the token must not be used again.
 */
final class NotifiedTokens {

	/** Removing what has expired takes a pass over all entries, so it is done rarely. */
	private static final int FEWEST_TO_PURGE = 1_000;

	private final Map<OwnerId, Entry> entries = new ConcurrentHashMap<>();

	private final SchedulingClock clock;

	private volatile int purgeAbove = FEWEST_TO_PURGE;

	NotifiedTokens(SchedulingClock clock) {
		this.clock = clock;
	}

	/** The token of the owner's grant, if its lease lasts. */
	OptionalLong find(OwnerId owner) {
		Entry entry = this.entries.get(owner);
		return (entry != null && lasts(entry)) ? OptionalLong.of(entry.token()) : OptionalLong.empty();
	}

	/**
	 * Records a grant.
	 * @param validUntil the end of its validity on the clock
	 */
	void put(OwnerId owner, long token, long validUntil) {
		this.entries.put(owner, new Entry(token, validUntil));
		if (this.entries.size() > this.purgeAbove) {
			this.entries.values().removeIf((entry) -> !lasts(entry));
			this.purgeAbove = Math.max(FEWEST_TO_PURGE, 2 * this.entries.size());
		}
	}

	/** Records a renewal of a lease that has not ended. */
	void extend(OwnerId owner, long validUntil) {
		this.entries.computeIfPresent(owner, (key, entry) -> lasts(entry)
				? new Entry(entry.token(), Math.max(entry.validUntil(), validUntil)) : null);
	}

	void remove(OwnerId owner) {
		this.entries.remove(owner);
	}

	int size() {
		return this.entries.size();
	}

	private boolean lasts(Entry entry) {
		return this.clock.nanos() < entry.validUntil();
	}

	/**
	 * A grant.
	 *
	 * @param token its token
	 * @param validUntil when its validity ends
	 */
	private record Entry(long token, long validUntil) {
	}

}
