package io.holdfast.lock.test.simulation;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockLostEvent;
import io.holdfast.lock.LockName;

/**
 * Verifies invariants after every step of a run and at its end. The first violation ends
 * the run.
 */
public final class Checks {

	private static final double LEAST_SHARE_OF_LEASE = 0.97;

	private static final long TOLERANCE = Duration.ofMillis(50).toNanos();

	/** How long after a fault the engine repeats or withdraws what it has interrupted. */
	private static final long LONGEST_RETRY = Duration.ofMillis(1_250).toNanos();

	private static final Duration LATEST_ANSWER = Duration.ofSeconds(2);

	private final Simulation simulation;

	private final Map<LockName, List<Holder>> holders = new LinkedHashMap<>();

	private final Set<LockName> contested = new LinkedHashSet<>();

	private final Map<LockName, Long> greatestToken = new HashMap<>();

	private final Map<LockName, Long> greatestExclusiveToken = new HashMap<>();

	private final Validities validities = new Validities();

	/** When the lease of an owner was released by force. */
	private final Map<String, Long> revokedAt = new HashMap<>();

	private final WaitQueues queues = new WaitQueues();

	private final Turns turns = new Turns();

	/** How many holders a lease may serve while others wait. */
	private int longestTurn = Integer.MAX_VALUE;

	private final Set<Call> unsettled = new LinkedHashSet<>();

	private long firstToken;

	private boolean closed;

	private Predicate<String> wanted = (check) -> true;

	private @Nullable Violation violation;

	private Duration longestLease = Duration.ofDays(1);

	private Duration lockDelay = Duration.ZERO;

	private boolean idleLocksAreFree;

	private final List<Call> calls = new ArrayList<>();

	Checks(Simulation simulation) {
		this.simulation = simulation;
	}

	/** Ignores violations of all other checks. */
	void only(Predicate<String> wanted) {
		this.wanted = wanted;
	}

	/** Ignores violations from now on, while the run is torn down. */
	void close() {
		this.closed = true;
	}

	void longestLease(Duration longestLease) {
		this.longestLease = longestLease;
	}

	void lockDelay(Duration delay) {
		this.lockDelay = delay;
	}

	/** Verifies that a lease serves no more holders while a claim waits for it. */
	void longestTurn(int holders) {
		this.longestTurn = holders;
	}

	/**
	 * Verifies that every caller gets a lock that no other one uses or waits for.
	 */
	void idleLocksAreFree() {
		this.idleLocksAreFree = true;
	}

	/**
	 * Records a violation, unless the run already has one.
	 * @param node the node that found it, or {@code null}
	 * @param check the name of the check
	 * @param subject the affected lock, or empty
	 * @param message the description of the violation
	 * @param cause the failure that reveals it, or {@code null}
	 */
	public void fail(@Nullable SimulatedNode node, String check, String subject, String message,
			@Nullable Throwable cause) {
		if (this.violation == null && !this.closed && this.wanted.test(check)) {
			this.violation = new Violation(check, subject, message, cause);
			this.simulation.history()
				.add(this.simulation, (node != null) ? node.name() : "", subject,
						() -> "VIOLATION of '%s': %s".formatted(check, message));
		}
	}

	private void fail(Holder holder, String check, String message) {
		fail(holder.call.process, check, holder.handle.lock().toString(), message, null);
	}

	@Nullable Violation violation() {
		return this.violation;
	}

	void started(Call call) {
		this.unsettled.add(call);
		this.calls.add(call);
	}

	void acquired(Call call, LockHandle handle) {
		for (LockHandle part : handle.parts()) {
			Holder holder = new Holder(call, part, this.lockDelay);
			record(call, part.lock(), () -> "acquires %s token=%d validity=%dms".formatted(call,
					relative(part.fencingToken().value()), part.remainingValidity().toMillis()));
			call.holders.add(holder);
			boolean wasValid = this.validities.wasValid(holder);
			if (part.isHeld() || !wasValid) {
				checkStart(holder);
			}
			List<Holder> all = this.holders.computeIfAbsent(part.lock(), (lock) -> new ArrayList<>());
			all.forEach((before) -> checkLockDelay(before, holder));
			all.add(holder);
			if (all.size() > 1) {
				this.contested.add(part.lock());
			}
			part.onLost((event) -> lost(holder, event));
		}
	}

	private void checkStart(Holder holder) {
		if (!holder.handle.isHeld()) {
			fail(holder, "start", "%s was handed over although it is lost".formatted(holder));
		}
		checkToken(holder);
		checkLength(holder);
		checkTurn(holder);
	}

	/**
	 * Excuses the holders of a lease that is released by force, until they must have
	 * noticed. The fence rejects them from now on.
	 * @param ownerId the owner id
	 */
	void revoked(String ownerId) {
		this.revokedAt.put(ownerId, this.simulation.now());
	}

	/** A holder notices with the next renewal, or when the validity has elapsed. */
	private boolean isExcused(Holder holder) {
		Long since = this.revokedAt.get(holder.handle.ownerId());
		if (since == null) {
			return false;
		}
		long lease = holder.call.operation.leaseTime().toNanos();
		long latest = calmSince(holder.call.process, since + TOLERANCE) ? lease / 2 : lease;
		return this.simulation.now() < since + latest + TOLERANCE;
	}

	private void checkToken(Holder holder) {
		if (isExcused(holder)) {
			return;
		}
		long token = holder.handle.fencingToken().value();
		LockName lock = holder.handle.lock();
		// shared holders may receive their tokens in any order
		Map<LockName, Long> before = holder.exclusive() ? this.greatestToken : this.greatestExclusiveToken;
		long greatest = before.getOrDefault(lock, 0L);
		if (token <= greatest) {
			fail(holder, "tokens", "%s has token %d, and token %d was granted before".formatted(holder, relative(token),
					relative(greatest)));
		}
		this.greatestToken.merge(lock, token, Math::max);
		if (holder.exclusive()) {
			this.greatestExclusiveToken.merge(lock, token, Math::max);
		}
	}

	/** Verifies that a lease that is not renewed is as long as requested. */
	private void checkLength(Holder holder) {
		Operation operation = holder.call.operation;
		long kept = Math.min(operation.leaseTime().toNanos(), this.longestLease.minus(this.lockDelay).toNanos());
		double least = kept * LEAST_SHARE_OF_LEASE - TOLERANCE;
		boolean shorter = holder.validity.toNanos() < least;
		if (shorter && !operation.renew() && operation.locks().size() == 1
				&& calmSince(holder.call.process, holder.call.startedAt)) {
			fail(holder, "lease", "%s is valid for %dms, and the lease is %dms".formatted(holder,
					holder.validity.toMillis(), operation.leaseTime().toMillis()));
		}
	}

	private void checkTurn(Holder holder) {
		this.turns.served(holder, this.longestTurn)
			.filter((claim) -> calmSince(claim.process, this.turns.since(claim))
					&& calmSince(holder.call.process, this.turns.since(claim)))
			.ifPresent((claim) -> fail(holder, "turns", "%s gets a lease that has served %d holders while %s waited"
				.formatted(holder, this.longestTurn, claim)));
	}

	/**
	 * Returns the difference to the first token, because some stores derive their tokens
	 * from the current time.
	 */
	private long relative(long token) {
		this.firstToken = (this.firstToken != 0) ? this.firstToken : token;
		return token - this.firstToken;
	}

	private void checkLockDelay(Holder before, Holder holder) {
		long early = before.closedUntil() - this.simulation.now();
		if (early > 0 && before.conflictsWith(holder) && !before.passes()) {
			fail(holder, "lock-delay", "%s acquires the lock %dms before the lock-delay of %s is over".formatted(holder,
					early / 1_000_000, before));
		}
	}

	void refused(WaitQueues.Waiting claim) {
		this.queues.refused(claim, this.simulation.now());
		this.turns.refused(claim, this.simulation.now());
	}

	void abandoned(WaitQueues.Waiting claim) {
		waitsNoLonger(claim);
	}

	private void waitsNoLonger(WaitQueues.Waiting claim) {
		this.queues.remove(claim);
		this.turns.remove(claim);
	}

	void granted(WaitQueues.Waiting claim, long sentAt, Duration lease) {
		this.validities.granted(claim, sentAt, lease.minus(this.lockDelay));
		granted(claim);
	}

	void granted(WaitQueues.Waiting claim) {
		waitsNoLonger(claim);
		this.queues.predecessor(claim, this.simulation.now())
			.filter((before) -> calmSince(before.process, before.sentAt) && calmSince(claim.process, before.sentAt))
			.ifPresent((before) -> fail(claim.process, "order", claim.lock(),
					"%s is granted the lock before %s, which waited before it".formatted(claim, before), null));
	}

	void handedOff(SimulatedProcess process, LockName lock, boolean isValid) {
		this.validities.handedOff(process, lock, isValid);
	}

	void closing(Call call) {
		record(call, null, () -> "closes " + call);
		call.holders.forEach(Holder::closing);
		call.endedAt = this.simulation.now();
	}

	private void lost(Holder holder, LockLostEvent event) {
		record(holder.call, event.lock(), () -> "loses %s: %s".formatted(holder, event.cause()));
		holder.lost(event.cause());
		Operation operation = holder.call.operation;
		long lease = operation.leaseTime().toNanos();
		long age = this.simulation.now() - holder.acquiredAt;
		boolean early = operation.renew() || age < holder.validity.toNanos() * LEAST_SHARE_OF_LEASE;
		long since = operation.renew() ? Math.max(holder.call.startedAt, this.simulation.now() - 2 * lease)
				: holder.call.startedAt;
		boolean revoked = this.revokedAt.containsKey(holder.handle.ownerId());
		if (early && !revoked && calmSince(holder.call.process, since)) {
			fail(holder, "health", "%s lost the lock (%s) although nothing was wrong".formatted(holder, event.cause()));
		}
	}

	/** Whether no fault has affected the process or a server since the given time. */
	private boolean calmSince(SimulatedProcess process, long time) {
		return this.simulation.nodes()
			.stream()
			.filter((node) -> node == process || !(node instanceof SimulatedProcess))
			.allMatch((node) -> node.calmSince(time));
	}

	void settled(Call call, @Nullable Throwable failure, boolean expected) {
		this.unsettled.remove(call);
		if (failure != null) {
			call.endedAt = this.simulation.now();
			checkNotIdle(call);
		}
		record(call, null, () -> (failure == null) ? "ends the call of %s".formatted(call)
				: "fails in %s: %s".formatted(call, brief(failure)));
		if (!expected && calmSince(call.process, call.startedAt - LONGEST_RETRY)) {
			fail(call.process, "health", call.operation.subject(),
					"%s failed although nothing was wrong: %s".formatted(call, brief(failure)), failure);
		}
		checkInTime(call);
	}

	/** A lease that stays in a process is no reason to refuse a call in another one. */
	private void checkNotIdle(Call refused) {
		boolean alone = this.calls.stream()
			.noneMatch((call) -> call != refused && call.endedAt > refused.startedAt - TOLERANCE);
		if (this.idleLocksAreFree && alone && this.simulation.nodes().stream().allMatch((node) -> node.calmSince(1))) {
			fail(refused.process, "idle", refused.operation.subject(),
					"%s was refused although no other operation used the lock".formatted(refused), null);
		}
	}

	private static String brief(@Nullable Throwable failure) {
		Throwable cause = (failure != null && failure.getCause() != null) ? failure.getCause() : failure;
		// some stores derive their tokens from the current time
		return String.valueOf(cause).replaceAll("token \\d+", "token …");
	}

	private void checkInTime(Call call) {
		Duration most = call.operation.waitTime().plus(LATEST_ANSWER.multipliedBy(1 + call.operation.locks().size()));
		if (!call.acquired() && !call.process.killed() && call.runningTime() > most.toNanos()) {
			fail(call.process, "deadline", call.operation.subject(),
					"%s was neither served nor refused within %dms".formatted(call, most.toMillis()), null);
		}
	}

	/** Verifies the invariants that hold after every step. */
	void afterStep() {
		if (!this.lockDelay.isZero()) {
			this.holders.values().forEach((all) -> all.forEach(Holder::noteValidity));
		}
		Iterator<LockName> locks = this.contested.iterator();
		while (locks.hasNext()) {
			List<Holder> all = this.holders.getOrDefault(locks.next(), List.of());
			all.removeIf(Holder::isOver);
			if (all.size() < 2) {
				locks.remove();
			}
			else {
				checkExclusion(all);
			}
		}
	}

	private void checkExclusion(List<Holder> all) {
		for (int i = 1; i < all.size(); i++) {
			Holder later = all.get(i);
			for (int j = 0; j < i; j++) {
				Holder earlier = all.get(j);
				if (later.conflictsWith(earlier) && later.passes() && earlier.passes() && !isExcused(later)
						&& !isExcused(earlier)) {
					boolean lingers = earlier.closed() || later.closed();
					fail(later, lingers ? "minHold" : "exclusion", "%s holds the lock beside %s%s".formatted(later,
							earlier, lingers ? ", which keeps it closed for its minHold" : ""));
				}
			}
		}
	}

	/** Verifies the invariants that hold when all operations have ended. */
	void atEnd(SimulatedStore store, List<SimulatedProcess> processes) {
		this.unsettled.forEach(this::checkInTime);
		for (SimulatedProcess process : processes) {
			if (!process.killed()) {
				process.engine().leftovers().forEach((left) -> fail(process, "leftovers", "", left, null));
				if (process.pendingTimers() > store.timersPerProcess()) {
					fail(process, "leftovers", "", "timers: " + process.pendingTimers(), null);
				}
			}
		}
		store.leftovers().forEach((left) -> fail(null, "leftovers", "", "in the store: " + left, null));
	}

	private void record(Call call, @Nullable LockName lock, Supplier<String> what) {
		String subject = (lock != null) ? lock.toString() : call.operation.subject();
		this.simulation.history().add(this.simulation, call.process.name(), subject, what);
	}

}
