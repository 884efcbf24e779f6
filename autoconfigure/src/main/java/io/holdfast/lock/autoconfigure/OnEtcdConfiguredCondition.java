package io.holdfast.lock.autoconfigure;

import io.holdfast.lock.backend.etcd.EtcdLockBackend;

/**
 * Matches where etcd is the default store or has endpoints.
 */
final class OnEtcdConfiguredCondition extends OnServersListedCondition {

	OnEtcdConfiguredCondition() {
		super(EtcdLockBackend.NAME, EtcdLockProperties.ENDPOINTS);
	}

}
