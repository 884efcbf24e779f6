package io.holdfast.lock.test.contract.teeth;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.holdfast.lock.LockName;
import io.holdfast.lock.backend.local.LocalLockBackend;
import io.holdfast.lock.spi.Grant;

/**
 * The far end of the wires: a sound store, which forgets everything when it restarts.
 */
final class Server {

	private volatile LocalLockBackend store = new LocalLockBackend();

	/** Who was granted each lock last, for flaws that confuse one owner with another. */
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
