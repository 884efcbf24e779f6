package io.holdfast.lock.observation;

import java.time.Duration;

import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.observation.AcquireOutcome;
import io.holdfast.lock.spi.observation.LockObservation;
import io.holdfast.lock.spi.observation.LockObserver;

/**
 * Puts the lock and its fencing token into the logging context (MDC) of the thread that
 * runs a locked method or action. Nested locks restore the outer values. Thread-safe.
 */
public final class MdcLockObserver implements LockObserver {

	/** The key of the lock, such as {@code stock:42}. */
	public static final String LOCK = "lock";

	/** The key of the fencing token of the hold. */
	public static final String TOKEN = "lockToken";

	/** Creates an observer. */
	public MdcLockObserver() {
	}

	@Override
	public LockObservation observe(LockName lock, String backend) {
		return new InContext(lock);
	}

	/** One hold. */
	private static final class InContext implements LockObservation {

		private final LockName lock;

		private volatile @Nullable FencingToken token;

		InContext(LockName lock) {
			this.lock = lock;
		}

		@Override
		public void granted(AcquireOutcome outcome, Duration waited, FencingToken token) {
			this.token = token;
		}

		@Override
		public Scope openScope() {
			String outerLock = MDC.get(LOCK);
			String outerToken = MDC.get(TOKEN);
			MDC.put(LOCK, this.lock.toString());
			MDC.put(TOKEN, String.valueOf(this.token));
			return () -> {
				restore(LOCK, outerLock);
				restore(TOKEN, outerToken);
			};
		}

		private static void restore(String key, @Nullable String outer) {
			if (outer != null) {
				MDC.put(key, outer);
			}
			else {
				MDC.remove(key);
			}
		}

	}

}
