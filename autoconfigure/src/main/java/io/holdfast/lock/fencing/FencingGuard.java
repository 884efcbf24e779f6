package io.holdfast.lock.fencing;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.StaleFencingTokenException;

/**
 * The guard of one resource: lets in the holder with the greatest fencing token so far,
 * and refuses every holder that was overtaken.
 *
 * <p>
 * Pass it before the first read that the work depends on, and not only before the write:
 * who has read before its successor wrote must not write after it. Between this and the
 * write no other holder may be let in, so both belong into one transaction, script or
 * atomic step of the resource. Where that cannot be, the resource has to compare the
 * token itself with every write.
 *
 * <p>
 * The same holder may pass as often as it likes. A shared hold is checked, and keeps
 * nobody out but holders that came before it.
 */
public interface FencingGuard {

	/**
	 * Let a holder in.
	 * @param hold what it holds; of several locks, all are checked or none is let in
	 * @throws StaleFencingTokenException if a newer holder was here
	 */
	void advance(LockHandle hold);

}
