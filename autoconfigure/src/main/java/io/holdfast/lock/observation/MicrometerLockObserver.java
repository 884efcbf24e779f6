package io.holdfast.lock.observation;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.micrometer.core.instrument.MeterRegistry;

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

	private final Map<Subject, LockMeters> meters = new ConcurrentHashMap<>();

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
		if (outcome == AcquireOutcome.ACQUIRED || outcome == AcquireOutcome.CONTENDED) {
			locks.held().incrementAndGet();
		}
	}

	@Override
	public void released(LockName lock, String backend, Duration held, Duration lease) {
		LockMeters locks = of(lock, backend);
		locks.held().decrementAndGet();
		locks.hold().record(held);
	}

	@Override
	public void renewed(LockName lock, String backend, RenewalOutcome outcome) {
		of(lock, backend).renewal(outcome).increment();
	}

	@Override
	public void lost(LockLostEvent event) {
		of(event.lock(), event.backend()).lost(event.cause()).increment();
	}

	private LockMeters of(LockName lock, String backend) {
		return this.meters.computeIfAbsent(new Subject(lock.name(), backend),
				(subject) -> new LockMeters(this.registry, subject.name(), subject.backend()));
	}

	private record Subject(String name, String backend) {
	}

}
