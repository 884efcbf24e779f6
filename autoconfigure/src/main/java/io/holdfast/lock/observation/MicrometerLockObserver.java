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

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockLostEvent;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.observation.AcquireOutcome;
import io.holdfast.lock.spi.observation.LockObserver;
import io.holdfast.lock.spi.observation.RenewalOutcome;

/**
 * Records the meters {@code distributed.lock.*}. Their tags are the fixed part of a
 * lock's name and its backend. The key is never a tag, so the number of meters does not
 * grow with the number of locked resources.
 *
 * <p>
 * All meters of a lock name exist from its first acquisition, at zero, so that a rate
 * includes the first loss. Thread-safe.
 */
public final class MicrometerLockObserver implements LockObserver, AutoCloseable {

	/**
	 * The default for the maximum number of names with meters of their own. All further
	 * names share one set of meters. Names are usually constants, but one could be built
	 * from a key by mistake.
	 */
	public static final int DEFAULT_MAX_NAMES = 100;

	static final String OTHER = "other";

	private static final Log logger = LogFactory.getLog(MicrometerLockObserver.class);

	/** By backend, then by name, so that a lookup creates no garbage. */
	private final Map<String, Map<String, LockMeters>> meters = new ConcurrentHashMap<>();

	private final Lock adding = new ReentrantLock();

	private final Set<String> names = ConcurrentHashMap.newKeySet();

	private volatile boolean full;

	/** Guarded by the lock. */
	private boolean closed;

	private final MeterRegistry registry;

	private final int maxNames;

	/**
	 * Creates an observer for up to {@value #DEFAULT_MAX_NAMES} lock names.
	 * @param registry the registry of the meters
	 */
	public MicrometerLockObserver(MeterRegistry registry) {
		this(registry, DEFAULT_MAX_NAMES);
	}

	/**
	 * Creates an observer.
	 * @param registry the registry of the meters
	 * @param maxNames the maximum number of lock names with meters of their own; all
	 * further names share the tag value {@code other}
	 * @throws LockConfigurationException if the number is negative
	 */
	public MicrometerLockObserver(MeterRegistry registry, int maxNames) {
		if (maxNames < 0) {
			throw new LockConfigurationException(
					"'distributed-lock.metrics.max-names' is %s. Set it to 0 or more.".formatted(maxNames));
		}
		this.registry = registry;
		this.maxNames = maxNames;
	}

	@Override
	public void acquiring(LockName lock, String backend) {
		of(lock, backend).acquiring();
	}

	@Override
	public void acquired(LockName lock, String backend, AcquireOutcome outcome, Duration waited, Duration lease) {
		of(lock, backend).acquired(outcome, waited, lease);
	}

	@Override
	public void released(LockName lock, String backend, Duration held, Duration lease) {
		of(lock, backend).released(held, lease);
	}

	@Override
	public void handedOff(LockName lock, String backend) {
		of(lock, backend).handedOff();
	}

	@Override
	public void renewing(LockName lock, String backend, Duration late) {
		of(lock, backend).renewing(late);
	}

	@Override
	public void renewed(LockName lock, String backend, RenewalOutcome outcome) {
		of(lock, backend).renewed(outcome);
	}

	@Override
	public void lost(LockLostEvent event) {
		of(event.lock(), event.backend()).lost(event.cause());
	}

	@Override
	public void commitRefused(LockName lock, String backend) {
		of(lock, backend).commitRefused();
	}

	@Override
	public void fencingRejected(LockName lock, String backend) {
		of(lock, backend).fencingRejected();
	}

	/** Removes the gauges, which no longer change. All other meters keep their values. */
	@Override
	public void close() {
		this.adding.lock();
		try {
			this.closed = true;
			this.meters.values().forEach((byName) -> byName.values().forEach(LockMeters::close));
		}
		finally {
			this.adding.unlock();
		}
	}

	private LockMeters of(LockName lock, String backend) {
		String name = (this.full && !this.names.contains(lock.name())) ? OTHER : lock.name();
		Map<String, LockMeters> byName = this.meters.get(backend);
		LockMeters found = (byName != null) ? byName.get(name) : null;
		return (found != null) ? found : add(name, backend);
	}

	/**
	 * A name beyond the limit never gets meters of its own, so that a gauge is
	 * incremented and decremented on the same meter.
	 */
	private LockMeters add(String name, String backend) {
		this.adding.lock();
		try {
			String known = admit(name) ? name : OTHER;
			return this.meters.computeIfAbsent(backend, (key) -> new ConcurrentHashMap<>())
				.computeIfAbsent(known, (key) -> create(known, backend));
		}
		finally {
			this.adding.unlock();
		}
	}

	private LockMeters create(String name, String backend) {
		LockMeters created = new LockMeters(this.registry, name, backend);
		if (this.closed) {
			created.close();
		}
		return created;
	}

	private boolean admit(String name) {
		if (this.names.contains(name) || name.equals(OTHER)) {
			return true;
		}
		if (this.names.size() < this.maxNames) {
			return this.names.add(name);
		}
		if (!this.full) {
			this.full = true;
			logger.warn(("More than %s lock names are in use. '%s' and all further names are metered as '%s'. "
					+ "Move the variable part of a lock's name into its key, or increase 'distributed-lock.metrics.max-names'.")
				.formatted(this.maxNames, name, OTHER));
		}
		return false;
	}

}
