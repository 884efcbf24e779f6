package io.holdfast.lock.backend.redlock;

import io.holdfast.lock.backend.redis.ReleaseNotice;

/**
 * The notice of a node to a waiter.
 *
 * @param notice the notice
 * @param runId the run id of the node's server if it keeps the lock, otherwise empty
 */
record NodeNotice(ReleaseNotice notice, String runId) {

	/**
	 * Reads a message.
	 * @param message the text that {@code notify.lua} builds
	 * @return the notice
	 */
	static NodeNotice parse(String message) {
		int end = message.indexOf(' ');
		return (end < 0) ? new NodeNotice(ReleaseNotice.parse(message), "")
				: new NodeNotice(ReleaseNotice.parse(message.substring(0, end)), message.substring(end + 1));
	}

}
