package io.holdfast.verification.benchmark;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;

/**
 * A lock of ShedLock. It does not wait for other holders, so the caller asks repeatedly.
 */
final class ShedLockContender implements Contender {

	private static final long PAUSE_NANOS = 1_000_000;

	private final LockProvider provider;

	private final Duration lease;

	ShedLockContender(LockProvider provider, Duration lease) {
		this.provider = provider;
		this.lease = lease;
	}

	@Override
	public void locked(String key, Runnable section) {
		Optional<SimpleLock> lock = tryLock(key);
		while (lock.isEmpty()) {
			LockSupport.parkNanos(PAUSE_NANOS);
			lock = tryLock(key);
		}
		try {
			section.run();
		}
		finally {
			lock.get().unlock();
		}
	}

	private Optional<SimpleLock> tryLock(String key) {
		return this.provider.lock(new LockConfiguration(Instant.now(), "shedlock-" + key, this.lease, Duration.ZERO));
	}

}
