package io.holdfast.lock.engine;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LossCause;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.LockObserver;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.spi.RenewalOutcome;
import io.holdfast.lock.support.SchedulingClock;

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

	private static final int RETRIES_PER_RENEWAL = 4;

	private static final long FARTHEST_AHEAD = TimeUnit.SECONDS.toNanos(60);

	private final SchedulingClock time;

	private final long responseTimeout;

	private final LockObserver observer;

	private final Executor threads;

	private final ReentrantLock lock = new ReentrantLock();

	private final TreeSet<RenewalSchedule> byTime = new TreeSet<>(
			Comparator.comparingLong((RenewalSchedule care) -> care.at).thenComparingLong((care) -> care.number));

	private int watched;

	private long numbers;

	private long wakeUpAt = Long.MAX_VALUE;

	private @Nullable Runnable cancelWakeUp;

	Watchdog(SchedulingClock time, EngineSettings settings, LockObserver observer, Executor threads) {
		this.time = time;
		this.responseTimeout = settings.responseTimeout().toNanos();
		this.observer = observer;
		this.threads = threads;
	}

	void watch(RenewalSchedule care) {
		this.lock.lock();
		try {
			care.number = this.numbers++;
			care.nextRenewal = this.time.nanos() + care.interval();
			care.watched = true;
			this.watched++;
			plan(care);
			wakeUpInTime();
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Renew a lease no more.
	 * @return completes when no renewal of it is under way either, so that what is sent
	 * then is the last that the store hears of it
	 */
	CompletableFuture<?> unwatch(RenewalSchedule care) {
		this.lock.lock();
		try {
			end(care);
			return care.renewal;
		}
		finally {
			this.lock.unlock();
		}
	}

	private void end(RenewalSchedule care) {
		if (care.watched) {
			care.watched = false;
			this.watched--;
			this.byTime.remove(care);
		}
	}

	int size() {
		this.lock.lock();
		try {
			return this.watched;
		}
		finally {
			this.lock.unlock();
		}
	}

	private void plan(RenewalSchedule care) {
		this.byTime.remove(care);
		long now = this.time.nanos();
		care.at = care.wantsRenewal(now) ? Math.min(care.nextRenewal, care.lease.validUntil())
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
		Map<LockBackend, List<RenewalSchedule>> toRenew = new HashMap<>();
		List<RenewalSchedule> over = new ArrayList<>();
		long now = this.time.nanos();
		this.lock.lock();
		try {
			this.wakeUpAt = Long.MAX_VALUE;
			this.cancelWakeUp = null;
			for (RenewalSchedule care : due(now)) {
				if (now >= care.lease.validUntil()) {
					end(care);
					over.add(care);
					continue;
				}
				if (care.beginsRenewal(now)) {
					toRenew.computeIfAbsent(care.lease.terms().backend(), (backend) -> new ArrayList<>()).add(care);
				}
				plan(care);
			}
			wakeUpInTime();
		}
		finally {
			this.lock.unlock();
		}
		over.forEach((care) -> care.lease.lose(care.causeOfExpiry(now)));
		toRenew.forEach(this::renew);
	}

	private List<RenewalSchedule> due(long now) {
		List<RenewalSchedule> due = new ArrayList<>();
		for (RenewalSchedule care : this.byTime) {
			if (care.at > now + FARTHEST_AHEAD) {
				break;
			}
			if (care.at <= now || care.goesWithOthers(now)) {
				due.add(care);
			}
		}
		return due;
	}

	private void renew(LockBackend backend, List<RenewalSchedule> cares) {
		if (backend.capabilities().blocking()) {
			this.threads.execute(() -> send(backend, cares));
		}
		else {
			send(backend, cares);
		}
	}

	private void send(LockBackend backend, List<RenewalSchedule> cares) {
		long sentAt = this.time.nanos();
		cares.forEach((care) -> this.observer.renewing(care.lease.terms().lock(), backend.name(), care.late(sentAt)));
		long patience = cares.stream().mapToLong(RenewalSchedule::interval).min().orElse(this.responseTimeout);
		CompletableFuture<List<RenewResult>> answers = Stages.within(
				() -> backend.renew(cares.stream().map((care) -> care.lease.grant()).toList()),
				Math.min(patience, this.responseTimeout), this.time);
		for (int i = 0; i < cares.size(); i++) {
			int number = i;
			RenewalSchedule care = cares.get(i);
			answers.handle((all, failure) -> answer(all, failure, number))
				.thenAccept((answer) -> answered(care, sentAt, answer))
				.whenComplete((done, failure) -> care.renewal.complete(null));
		}
	}

	private static RenewResult answer(@Nullable List<RenewResult> all, @Nullable Throwable failure, int number) {
		if (all != null && number < all.size()) {
			return all.get(number);
		}
		return new RenewResult.Indeterminate(
				(failure != null) ? failure : new IllegalStateException("no answer for this grant"));
	}

	private void answered(RenewalSchedule care, long sentAt, RenewResult answer) {
		Lease lease = care.lease;
		RenewalOutcome outcome;
		if (answer instanceof RenewResult.Renewed renewed) {
			lease.extended(sentAt, renewed.lease());
			replan(care, sentAt + care.interval());
			outcome = RenewalOutcome.RENEWED;
		}
		else if (answer instanceof RenewResult.Refused) {
			lease.lose(LossCause.REFUSED);
			outcome = RenewalOutcome.REFUSED;
		}
		else {
			replan(care, this.time.nanos() + care.interval() / RETRIES_PER_RENEWAL);
			outcome = RenewalOutcome.INDETERMINATE;
		}
		this.observer.renewed(lease.terms().lock(), lease.backendName(), outcome);
	}

	private void replan(RenewalSchedule care, long nextRenewal) {
		this.lock.lock();
		try {
			if (care.watched) {
				care.nextRenewal = nextRenewal;
				plan(care);
				wakeUpInTime();
			}
		}
		finally {
			this.lock.unlock();
		}
	}

}
