package io.holdfast.lock.interceptor.other;

import io.holdfast.lock.DistributedLock;

/**
 * Base class of beans in another package.
 */
public class PackagePrivateMethod {

	@DistributedLock("stock")
	void call() {
	}

}
