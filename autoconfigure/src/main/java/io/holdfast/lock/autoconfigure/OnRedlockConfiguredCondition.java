package io.holdfast.lock.autoconfigure;

import io.holdfast.lock.backend.redlock.RedlockLockBackend;

/**
 * Matches where Redlock is the default store or has nodes.
 */
final class OnRedlockConfiguredCondition extends OnServersListedCondition {

	OnRedlockConfiguredCondition() {
		super(RedlockLockBackend.NAME, "distributed-lock.redlock.nodes");
	}

}
