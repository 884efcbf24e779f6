package io.holdfast.lock.engine;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LossCause;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.LockObserver;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.spi.RenewalOutcome;

/**
 * Renews the leases of this JVM at a third of their time, and notices the end of those
 * that were not renewed. There is one for all leases: it sleeps until the next of them
 * needs care, and then looks after all that are nearly due, in one request to each store.
 *
 * <p>
 * A renewal without an answer costs nothing but time: the hold stays valid as long as it
 * was, and the renewal is tried again sooner. Only a refusal or the end of validity loses
 * it.
 */
final class Watchdog {

	private static final int RENEWALS_PER_LEASE = 3;

	private static final int RETRIES_PER_RENEWAL = 4;

	/**
	 * How early a renewal may come in order to go with others: a tenth of its interval.
	 */
	private static final int BATCH_SHARE = 10;

	private static final long FARTHEST_AHEAD = TimeUnit.SECONDS.toNanos(60);

	private final EngineTime time;

	private final long responseTimeout;

	private final LockObserver observer;

	private final Executor workers;

	private final ReentrantLock lock = new ReentrantLock();

	private final Map<Lease, Care> cares = new IdentityHashMap<>();

	private final TreeSet<Care> byTime = new TreeSet<>(
			Comparator.comparingLong((Care care) -> care.at).thenComparingLong((care) -> care.number));

	private long numbers;

	private long wakeUpAt = Long.MAX_VALUE;

	private @Nullable Runnable cancelWakeUp;

	Watchdog(EngineTime time, EngineSettings settings, LockObserver observer, Executor workers) {
		this.time = time;
		this.responseTimeout = settings.responseTimeout().toNanos();
		this.observer = observer;
		this.workers = workers;
	}

	void watch(Lease lease) {
		this.lock.lock();
		try {
			Care care = new Care(lease, this.numbers++);
			care.nextRenewal = this.time.nanos() + care.interval();
			this.cares.put(lease, care);
			plan(care);
			wakeUpInTime();
		}
		finally {
			this.lock.unlock();
		}
	}

	void unwatch(Lease lease) {
		this.lock.lock();
		try {
			Care care = this.cares.remove(lease);
			if (care != null) {
				this.byTime.remove(care);
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	int size() {
		this.lock.lock();
		try {
			return this.cares.size();
		}
		finally {
			this.lock.unlock();
		}
	}

	private void plan(Care care) {
		long now = this.time.nanos();
		care.at = care.lease.wantsRenewal(now) ? Math.min(care.nextRenewal, care.lease.validUntil())
				: care.lease.validUntil();
		this.byTime.add(care);
	}

	private void wakeUpInTime() {
		if (this.byTime.isEmpty() || this.byTime.first().at >= this.wakeUpAt) {
			return;
		}
		if (this.cancelWakeUp != null) {
			this.cancelWakeUp.run();
		}
		this.wakeUpAt = this.byTime.first().at;
		this.cancelWakeUp = this.time.after(this.wakeUpAt - this.time.nanos(), this::lookAfterDue);
	}

	private void lookAfterDue() {
		Map<LockBackend, List<Care>> toRenew = new HashMap<>();
		List<Lease> over = new ArrayList<>();
		long now = this.time.nanos();
		this.lock.lock();
		try {
			this.wakeUpAt = Long.MAX_VALUE;
			this.cancelWakeUp = null;
			for (Care care : due(now)) {
				this.byTime.remove(care);
				if (now >= care.lease.validUntil()) {
					this.cares.remove(care.lease);
					over.add(care.lease);
					continue;
				}
				if (care.lease.wantsRenewal(now)) {
					care.nextRenewal = now + care.interval();
					toRenew.computeIfAbsent(care.lease.terms().backend(), (backend) -> new ArrayList<>()).add(care);
				}
				plan(care);
			}
			wakeUpInTime();
		}
		finally {
			this.lock.unlock();
		}
		over.forEach((lease) -> lease.lose(lease.causeOfExpiry(now)));
		toRenew.forEach(this::renew);
	}

	private List<Care> due(long now) {
		List<Care> due = new ArrayList<>();
		for (Care care : this.byTime) {
			if (care.at > now + FARTHEST_AHEAD) {
				break;
			}
			if (care.at <= now || care.goesWithOthers(now)) {
				due.add(care);
			}
		}
		return due;
	}

	private void renew(LockBackend backend, List<Care> cares) {
		if (backend.capabilities().blocking()) {
			this.workers.execute(() -> send(backend, cares));
		}
		else {
			send(backend, cares);
		}
	}

	private void send(LockBackend backend, List<Care> cares) {
		long sentAt = this.time.nanos();
		long patience = cares.stream().mapToLong(Care::interval).min().orElse(this.responseTimeout);
		Answers
			.within(() -> backend.renew(cares.stream().map((care) -> care.lease.grant()).toList()),
					Math.min(patience, this.responseTimeout), this.time)
			.whenComplete((answers, failure) -> {
				for (int i = 0; i < cares.size(); i++) {
					RenewResult answer = (failure == null && i < answers.size()) ? answers.get(i)
							: new RenewResult.Indeterminate((failure != null) ? failure
									: new IllegalStateException("no answer for this grant"));
					answered(cares.get(i), sentAt, answer);
				}
			});
	}

	private void answered(Care care, long sentAt, RenewResult answer) {
		Lease lease = care.lease;
		RenewalOutcome outcome;
		if (answer instanceof RenewResult.Renewed renewed) {
			lease.extended(sentAt, renewed.lease());
			outcome = RenewalOutcome.RENEWED;
		}
		else if (answer instanceof RenewResult.Refused) {
			lease.lose(LossCause.REFUSED);
			outcome = RenewalOutcome.REFUSED;
		}
		else {
			tryAgainSooner(care);
			outcome = RenewalOutcome.INDETERMINATE;
		}
		this.observer.renewed(lease.terms().lock(), lease.backendName(), outcome);
	}

	private void tryAgainSooner(Care care) {
		this.lock.lock();
		try {
			if (this.cares.get(care.lease) == care) {
				this.byTime.remove(care);
				care.nextRenewal = this.time.nanos() + care.interval() / RETRIES_PER_RENEWAL;
				plan(care);
				wakeUpInTime();
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * What the watchdog knows of one lease. Guarded by the watchdog's lock.
	 */
	private static final class Care {

		private final Lease lease;

		private final long number;

		private long nextRenewal;

		private long at;

		Care(Lease lease, long number) {
			this.lease = lease;
			this.number = number;
		}

		long interval() {
			return Math.max(1, this.lease.length().toNanos() / RENEWALS_PER_LEASE);
		}

		boolean goesWithOthers(long now) {
			return this.lease.wantsRenewal(now) && this.nextRenewal - now <= interval() / BATCH_SHARE;
		}

	}

}
