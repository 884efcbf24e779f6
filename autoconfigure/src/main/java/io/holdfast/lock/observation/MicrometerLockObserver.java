package io.holdfast.lock.observation;

import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

import io.micrometer.core.instrument.MeterRegistry;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.holdfast.lock.LockLostEvent;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.AcquireOutcome;
import io.holdfast.lock.spi.LockObserver;
import io.holdfast.lock.spi.RenewalOutcome;

/**
 * Keeps the meters {@code distributed.lock.*}. Their tags are the fixed part of a lock's
 * name and its store; the key is never among them, so their number does not grow with the
 * things that are locked.
 *
 * <p>
 * All meters of a lock name are there from its first acquisition, at zero, so that a rate
 * sees the first loss as well. Thread-safe.
 */
public final class MicrometerLockObserver implements LockObserver {

	/**
	 * How many names have meters of their own; the others share one. Names are constants
	 * as a rule, but one could be made of a key by mistake.
	 */
	static final int MAX_NAMES = 1000;

	static final String OTHER = "other";

	private static final Log logger = LogFactory.getLog(MicrometerLockObserver.class);

	/** By store, then by name: to look one up makes no garbage. */
	private final Map<String, Map<String, LockMeters>> meters = new ConcurrentHashMap<>();

	private final Lock adding = new ReentrantLock();

	private final Set<String> names = ConcurrentHashMap.newKeySet();

	private volatile boolean full;

	private final MeterRegistry registry;

	/**
	 * Create one.
	 * @param registry where the meters are kept
	 */
	public MicrometerLockObserver(MeterRegistry registry) {
		this.registry = registry;
	}

	@Override
	public void acquiring(LockName lock, String backend) {
		of(lock, backend).waiting().incrementAndGet();
	}

	@Override
	public void acquired(LockName lock, String backend, AcquireOutcome outcome, Duration waited, Duration lease) {
		LockMeters locks = of(lock, backend);
		locks.waiting().decrementAndGet();
		locks.acquire(outcome).record(waited);
		locks.acquireLeaseRatio().record(share(waited, lease));
		if (outcome == AcquireOutcome.ACQUIRED || outcome == AcquireOutcome.CONTENDED) {
			locks.held().incrementAndGet();
		}
	}

	@Override
	public void released(LockName lock, String backend, Duration held, Duration lease) {
		LockMeters locks = of(lock, backend);
		locks.held().decrementAndGet();
		locks.hold().record(held);
		locks.holdLeaseRatio().record(share(held, lease));
	}

	@Override
	public void renewing(LockName lock, String backend, Duration late) {
		of(lock, backend).renewalDelay().record(late);
	}

	@Override
	public void renewed(LockName lock, String backend, RenewalOutcome outcome) {
		of(lock, backend).renewal(outcome).increment();
	}

	@Override
	public void lost(LockLostEvent event) {
		of(event.lock(), event.backend()).lost(event.cause()).increment();
	}

	@Override
	public void commitRefused(LockName lock, String backend) {
		of(lock, backend).commitRefused().increment();
	}

	@Override
	public void fencingRejected(LockName lock, String backend) {
		of(lock, backend).fencingRejected().increment();
	}

	private static double share(Duration part, Duration lease) {
		return (double) part.toNanos() / lease.toNanos();
	}

	private LockMeters of(LockName lock, String backend) {
		String name = (this.full && !this.names.contains(lock.name())) ? OTHER : lock.name();
		Map<String, LockMeters> byName = this.meters.get(backend);
		LockMeters found = (byName != null) ? byName.get(name) : null;
		return (found != null) ? found : add(name, backend);
	}

	/**
	 * A name that came too late stays without meters of its own for good: what is counted
	 * up and down is counted in the same place.
	 */
	private LockMeters add(String name, String backend) {
		this.adding.lock();
		try {
			String known = admit(name) ? name : OTHER;
			return this.meters.computeIfAbsent(backend, (key) -> new ConcurrentHashMap<>())
				.computeIfAbsent(known, (key) -> new LockMeters(this.registry, known, backend));
		}
		finally {
			this.adding.unlock();
		}
	}

	private boolean admit(String name) {
		if (this.names.contains(name) || name.equals(OTHER)) {
			return true;
		}
		if (this.names.size() < MAX_NAMES) {
			return this.names.add(name);
		}
		if (!this.full) {
			this.full = true;
			logger.warn(("More than %s lock names are in use; '%s' and all further ones are metered as '%s'. "
					+ "Put what varies into the key of a lock, not into its name.")
				.formatted(MAX_NAMES, name, OTHER));
		}
		return false;
	}

}
