package io.holdfast.lock.transaction;

import java.util.Collections;
import java.util.SortedSet;

/**
 * A change that a locked call has made to one persistence context of its thread, until
 * its holds have ended.
 */
interface ContextChange {

	/**
	 * Returns the changes of entities that are not written under the lock.
	 * @return their attributes; empty if there are none, or if they do not matter
	 */
	default SortedSet<String> unwritten() {
		return Collections.emptySortedSet();
	}

	/** Ends the change. Called on any thread. */
	void undo();

}
