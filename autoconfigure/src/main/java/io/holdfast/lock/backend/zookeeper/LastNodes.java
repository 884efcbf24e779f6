package io.holdfast.lock.backend.zookeeper;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * The last nodes that holds of this JVM have deleted, for a limited number of wait
 * queues. The node that follows such a node directly is the first in its wait queue, so
 * its claim need not read the wait queue.
 */
final class LastNodes {

	private static final int MOST = 1_000;

	/** The latest one last. */
	private final Map<String, LastNode> byQueue = new LinkedHashMap<>();

	synchronized @Nullable LastNode of(String queue) {
		return this.byQueue.get(queue);
	}

	synchronized void put(String queue, LastNode node) {
		this.byQueue.remove(queue);
		this.byQueue.put(queue, node);
		if (this.byQueue.size() > MOST) {
			Iterator<String> oldestFirst = this.byQueue.keySet().iterator();
			oldestFirst.next();
			oldestFirst.remove();
		}
	}

	synchronized void clear() {
		this.byQueue.clear();
	}

	/**
	 * A deleted node of an exclusive hold, which was the first in its wait queue.
	 *
	 * @param number its sequence number
	 * @param czxid the number of the transaction that created it
	 * @param followed whether it was proven to follow another one directly, so that the
	 * next node probably does, too
	 */
	record LastNode(long number, long czxid, boolean followed) {

		/**
		 * Whether a node is proven to be the first in the wait queue. The sequence
		 * numbers of a wait queue count the nodes created in it, so no node was created
		 * between this one and the next number, and all earlier nodes are gone. The
		 * server may have removed and created the wait queue meanwhile, which starts the
		 * numbers again. Then the nodes with all the numbers up to this one were created
		 * after this one, each in a transaction of its own. That is impossible if there
		 * were fewer transactions.
		 */
		boolean isFollowedBy(long number, long czxid) {
			long transactions = czxid - this.czxid;
			return number == this.number + 1 && transactions > 0 && transactions <= this.number;
		}

	}

}
