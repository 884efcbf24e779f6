package io.holdfast.lock.backend.redlock;

import io.holdfast.lock.LockConfigurationException;

/**
 * The failure of a node whose server has already voted at another address.
 */
final class SameServerException extends LockConfigurationException {

	private final transient RedlockNode other;

	/**
	 * Creates the failure.
	 * @param other the node whose vote counts
	 * @param node the node that leads to the same server
	 * @param runId the run id of the server
	 */
	SameServerException(RedlockNode other, RedlockNode node, String runId) {
		super("'distributed-lock.redlock.nodes' lists %s and %s, which are the same Redis (run id %s) and vote only once. List each server once, and check DNS and proxies."
			.formatted(other, node, runId));
		this.other = other;
	}

	RedlockNode other() {
		return this.other;
	}

}
