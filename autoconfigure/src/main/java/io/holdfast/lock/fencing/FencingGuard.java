package io.holdfast.lock.fencing;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.StaleFencingTokenException;

/**
 * The guard of one resource. It admits the holder with the greatest fencing token so far
 * and rejects every stale holder.
 *
 * <p>
 * Call it before the first read on which the work depends, not only before the write: a
 * holder that has read before its successor wrote must not write afterwards. No other
 * holder may be admitted between this call and the write, so both belong in one
 * transaction, script or atomic step of the resource. If that is not possible, the
 * resource must compare the token itself with every write.
 *
 * <p>
 * The same holder may pass any number of times. A shared hold is checked but not
 * recorded, so it never makes another holder stale.
 */
public interface FencingGuard {

	/**
	 * Admits a holder.
	 * @param hold the hold; if it has several locks, all are checked or none is admitted
	 * @throws StaleFencingTokenException if a newer holder was admitted before
	 */
	void advance(LockHandle hold);

}
