package io.holdfast.lock.engine;

import io.holdfast.lock.LockName;

/**
 * A lock and where it is kept.
 *
 * @param lock the lock
 * @param backend the name of the backend
 */
record LockAtBackend(LockName lock, String backend) {

	static LockAtBackend of(ResolvedRequest request) {
		return new LockAtBackend(request.lock(), request.backend().name());
	}

}
