package io.holdfast.lock.test.contract.selftest;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.holdfast.lock.LockName;
import io.holdfast.lock.backend.local.LocalLockBackend;
import io.holdfast.lock.spi.Grant;

/**
 * The server that the {@link Wire} clients share: a sound store that loses its data on
 * restart.
 */
final class Server {

	private volatile LocalLockBackend store = new LocalLockBackend();

	/** The latest grant of each lock, for flaws that confuse owners. */
	private final Map<LockName, Grant> latest = new ConcurrentHashMap<>();

	LocalLockBackend store() {
		return this.store;
	}

	Map<LockName, Grant> latest() {
		return this.latest;
	}

	void restart() {
		this.store = new LocalLockBackend();
	}

}
