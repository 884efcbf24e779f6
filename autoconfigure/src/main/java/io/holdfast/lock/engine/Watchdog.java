package io.holdfast.lock.engine;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LossCause;
import io.holdfast.lock.spi.Capability;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.spi.observation.LockObserver;
import io.holdfast.lock.spi.observation.RenewalOutcome;
import io.holdfast.lock.support.Batches;
import io.holdfast.lock.support.SchedulingClock;

/**
 * Renews the leases of this JVM at one third of their duration, and detects leases that
 * expire. One watchdog serves all leases. It sleeps until the next one is due, and then
 * renews all that are nearly due, many with one request to their store.
 *
 * <p>
 * An unanswered renewal does not shorten the validity, and the renewal is retried sooner.
 * Only a rejected renewal or the end of the validity makes the watchdog declare a loss.
 */
final class Watchdog {

	private static final int RETRIES_PER_RENEWAL = 4;

	/** Maximum number of leases in a request. The slowest one delays its response. */
	private static final int MOST_IN_A_REQUEST = 200;

	private static final long FARTHEST_AHEAD = TimeUnit.SECONDS.toNanos(60);

	private final SchedulingClock time;

	private final long responseTimeout;

	private final LockObserver observer;

	private final Executor threads;

	private final ReentrantLock lock = new ReentrantLock();

	private final RenewalQueue queue = new RenewalQueue();

	private int watched;

	private long numbers;

	private long wakeUpAt = Long.MAX_VALUE;

	private Runnable cancelWakeUp = () -> {
	};

	Watchdog(SchedulingClock time, EngineSettings settings, LockObserver observer, Executor threads) {
		this.time = time;
		this.responseTimeout = settings.responseTimeout().toNanos();
		this.observer = observer;
		this.threads = threads;
	}

	/** Watches a lease from its first hold on, unless an operator has released it. */
	void watch(RenewalSchedule schedule) {
		this.lock.lock();
		try {
			if (schedule.lease.holder().lost()) {
				return;
			}
			schedule.number = this.numbers++;
			long now = schedule.lease.holder().acquiredAt();
			schedule.nextRenewal = schedule.firstRenewal(now);
			schedule.watched = true;
			this.watched++;
			plan(schedule, now);
			wakeUpInTime();
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Stops renewing a lease.
	 * @return completes when no renewal is in progress either; a request that is sent
	 * then is the last one for the lease
	 */
	CompletableFuture<?> unwatch(RenewalSchedule schedule) {
		this.lock.lock();
		try {
			end(schedule);
			return schedule.renewal;
		}
		finally {
			this.lock.unlock();
		}
	}

	private void end(RenewalSchedule schedule) {
		if (schedule.watched) {
			schedule.watched = false;
			this.watched--;
			this.queue.remove(schedule);
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

	/** Plans the next check of a lease that has none. */
	private void plan(RenewalSchedule schedule, long now) {
		schedule.at = schedule.wantsRenewal(now) ? Math.min(schedule.nextRenewal, schedule.lease.validUntil())
				: schedule.lease.validUntil();
		this.queue.add(schedule);
	}

	private void wakeUpInTime() {
		RenewalSchedule first = this.queue.first();
		if (first != null && first.at < this.wakeUpAt) {
			Runnable cancelFormer = this.cancelWakeUp;
			// without this timer, the former one remains
			this.cancelWakeUp = this.time.after(first.at - this.time.nanos(), this::renewDue);
			this.wakeUpAt = first.at;
			cancelFormer.run();
		}
	}

	private void renewDue() {
		Map<LockBackend, List<RenewalSchedule>> toRenew = new HashMap<>();
		List<RenewalSchedule> over = new ArrayList<>();
		long now = this.time.nanos();
		this.lock.lock();
		try {
			this.wakeUpAt = Long.MAX_VALUE;
			for (RenewalSchedule schedule : due(now)) {
				if (now >= schedule.lease.validUntil()) {
					end(schedule);
					over.add(schedule);
					continue;
				}
				if (schedule.startsRenewal(now)) {
					toRenew.computeIfAbsent(schedule.lease.holder().request().backend(), (backend) -> new ArrayList<>())
						.add(schedule);
				}
				this.queue.remove(schedule);
				plan(schedule, now);
			}
			wakeUpInTime();
		}
		finally {
			this.lock.unlock();
			over.forEach((schedule) -> schedule.lease.lose(schedule.causeOfExpiry(now)));
			toRenew.forEach(this::renew);
			// sets the timer if an error has prevented that and no response will do it
			over.forEach(this::replan);
		}
	}

	private List<RenewalSchedule> due(long now) {
		return this.queue.upTo(now + FARTHEST_AHEAD, (planned) -> planned.at <= now || planned.joinsBatch(now));
	}

	/**
	 * Sends the requests. A blocking backend gets one after another: at the same time,
	 * they would need a connection each, and might lock the same rows.
	 */
	private void renew(LockBackend backend, List<RenewalSchedule> schedules) {
		List<List<RenewalSchedule>> requests = Batches.of(schedules, MOST_IN_A_REQUEST);
		Executor threads = backend.capabilities().has(Capability.BLOCKING) ? this.threads : Runnable::run;
		threads.execute(() -> requests.stream()
			.map(this::stillWatched)
			.filter((request) -> !request.isEmpty())
			.forEach((request) -> send(backend, request)));
	}

	/** Leaves out leases that have ended while their renewals waited to be sent. */
	private List<RenewalSchedule> stillWatched(List<RenewalSchedule> schedules) {
		this.lock.lock();
		try {
			return schedules.stream().filter(RenewalSchedule::sends).toList();
		}
		finally {
			this.lock.unlock();
		}
	}

	private void send(LockBackend backend, List<RenewalSchedule> schedules) {
		long sentAt = this.time.nanos();
		schedules.forEach((schedule) -> this.observer.renewing(schedule.lease.grant().claim().lock(), backend.name(),
				schedule.late(sentAt)));
		CompletionStage<List<RenewResult>> response = StoreResponses.ask(backend::renew,
				schedules.stream().map((schedule) -> schedule.lease.grant()).toList());
		// by timeout, so that a short lease does not end the wait of the others
		Map<Long, CompletableFuture<List<RenewResult>>> answers = new HashMap<>();
		for (int i = 0; i < schedules.size(); i++) {
			int number = i;
			RenewalSchedule schedule = schedules.get(i);
			answers
				.computeIfAbsent(Math.min(schedule.interval(), this.responseTimeout),
						(timeout) -> StoreResponses.within(() -> response, timeout, this.time))
				.handle((all, failure) -> answer(all, failure, number))
				.thenAccept((answer) -> answered(schedule, sentAt, answer))
				.whenComplete((done, failure) -> over(schedule));
		}
	}

	/** Ends a renewal. A request to renew at once that came meanwhile follows. */
	private void over(RenewalSchedule schedule) {
		schedule.renewal.complete(null);
		this.lock.lock();
		try {
			if (schedule.again) {
				schedule.again = false;
				replan(schedule, this.time.nanos());
			}
		}
		finally {
			this.lock.unlock();
		}
	}

	private static RenewResult answer(@Nullable List<RenewResult> all, @Nullable Throwable failure, int number) {
		if (all != null && number < all.size()) {
			return all.get(number);
		}
		return new RenewResult.Indeterminate(
				(failure != null) ? failure : new IllegalStateException("no response for this grant"));
	}

	private void answered(RenewalSchedule schedule, long sentAt, RenewResult answer) {
		StoreLease lease = schedule.lease;
		RenewalOutcome outcome;
		if (answer instanceof RenewResult.Renewed renewed) {
			schedule.failure = null;
			lease.extended(sentAt, renewed.lease());
			replan(schedule, sentAt + schedule.interval());
			outcome = RenewalOutcome.RENEWED;
		}
		else if (answer instanceof RenewResult.Refused) {
			lease.lose(LossCause.REFUSED);
			outcome = RenewalOutcome.REFUSED;
		}
		else {
			schedule.failure = ((RenewResult.Indeterminate) answer).cause();
			replan(schedule, this.time.nanos() + schedule.interval() / RETRIES_PER_RENEWAL);
			outcome = RenewalOutcome.INDETERMINATE;
		}
		this.observer.renewed(lease.grant().claim().lock(), lease.holder().backendName(), outcome);
	}

	/** Considers that the lease has another holder, which limits renewals by itself. */
	void replan(RenewalSchedule schedule) {
		replan(schedule, null);
	}

	/**
	 * Renews a lease before it is due, because it may be lost. The response to a renewal
	 * in progress does not tell of that.
	 */
	void renewNow(RenewalSchedule schedule) {
		this.lock.lock();
		try {
			schedule.again = !schedule.renewal.isDone();
			replan(schedule, this.time.nanos());
		}
		finally {
			this.lock.unlock();
		}
	}

	private void replan(RenewalSchedule schedule, @Nullable Long nextRenewal) {
		this.lock.lock();
		try {
			if (schedule.watched) {
				schedule.nextRenewal = (nextRenewal != null) ? nextRenewal : schedule.nextRenewal;
				this.queue.remove(schedule);
				plan(schedule, this.time.nanos());
			}
			wakeUpInTime();
		}
		finally {
			this.lock.unlock();
		}
	}

}
