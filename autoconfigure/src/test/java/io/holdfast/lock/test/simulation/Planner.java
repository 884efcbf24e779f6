package io.holdfast.lock.test.simulation;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.BackendCapabilities;
import io.holdfast.lock.spi.Capability;
import io.holdfast.lock.test.EngineSettingsBuilder;

import static io.holdfast.lock.test.EngineSettingsBuilder.settings;

/**
 * Creates a random plan. Each plan uses only a few features and faults, but uses them
 * often. This finds more defects than a mix of all features.
 */
final class Planner {

	private static final int MOST_PROCESSES = 4;

	private static final int MOST_OPERATIONS = 24;

	private static final int MOST_FAULTS = 6;

	private static final int MOST_IN_BURST = 400;

	private static final int MOST_KINDS = 3;

	/** Of one lease. */
	private static final int MOST_HOLDS = 4;

	private final long seed;

	private final SplittableRandom random;

	private final BackendCapabilities able;

	private final int storeFaults;

	private final int processes;

	private final int locks;

	/** All operations and faults start within this time, in milliseconds. */
	private final long horizon;

	private final boolean fair;

	/** The lease of all operations, or {@code null} if each has its own. */
	private final @Nullable Duration sameLease;

	private final double shared;

	private final double minHold;

	private final double unrenewed;

	private final double cancelled;

	private final double noWait;

	private final List<Fault.Kind> kinds = new ArrayList<>();

	Planner(long seed, BackendCapabilities able, int storeFaults) {
		this.seed = seed;
		this.random = new SplittableRandom(seed);
		this.able = able;
		this.storeFaults = storeFaults;
		this.processes = 1 + this.random.nextInt(MOST_PROCESSES);
		this.locks = one(2) ? 1 : 2;
		this.horizon = one(2) ? 3_000 : 20_000;
		this.fair = able.has(Capability.FAIR) && one(4);
		this.sameLease = one(2) ? lease() : null;
		this.shared = able.has(Capability.SHARED) ? share() : 0;
		this.minHold = share();
		this.unrenewed = share();
		this.cancelled = share();
		this.noWait = share();
		int different = 1 + this.random.nextInt(MOST_KINDS);
		for (int i = 0; i < different; i++) {
			this.kinds.add(kind());
		}
	}

	/** Returns a probability that is often zero, otherwise low or high. */
	private double share() {
		return switch (this.random.nextInt(4)) {
			case 0, 1 -> 0;
			case 2 -> 0.2;
			default -> 0.7;
		};
	}

	private Fault.Kind kind() {
		Fault.Kind[] all = Fault.Kind.values();
		Fault.Kind kind = all[this.random.nextInt(all.length)];
		return (kind == Fault.Kind.STORE && this.storeFaults == 0) ? Fault.Kind.PAUSE : kind;
	}

	Plan plan() {
		Duration delay = one(6) ? millis(100, 3_000) : Duration.ZERO;
		EngineSettingsBuilder settings = settings().lockDelay(delay)
			.handoff(1 + this.random.nextInt(MOST_HOLDS), millis(1, 20_000));
		List<Operation> operations = new ArrayList<>();
		long count = millis(2, MOST_OPERATIONS).toMillis();
		for (int i = 0; i < count; i++) {
			operations.add(operation(i));
		}
		if (this.able.has(Capability.BLOCKING) && delay.isZero() && one(4)) {
			burst(operations);
		}
		List<Fault> faults = new ArrayList<>();
		int wrong = one(8) ? 0 : 1 + this.random.nextInt(MOST_FAULTS);
		for (int i = 0; i < wrong; i++) {
			faults.add(fault());
		}
		if (this.able.has(Capability.DEMAND) && one(3)) {
			settings.sticky(millis(1, 20_000));
		}
		return new Plan(this.seed, this.seed, Workload.MIXED, settings.build(), this.processes, List.copyOf(operations),
				List.copyOf(faults));
	}

	private Operation operation(int number) {
		boolean several = this.locks > 1 && one(6);
		List<LockName> names = several ? List.of(lock(0), lock(1)) : List.of(lock(this.random.nextInt(this.locks)));
		Duration lease = (this.sameLease != null) ? this.sameLease : lease();
		boolean renew = !with(this.unrenewed);
		Duration hold = renew ? millis(1, 2 * lease.toMillis()) : millis(1, lease.toMillis() * 5 / 4);
		Operation.Style style = Operation.Style.values()[this.random.nextInt(Operation.Style.values().length)];
		boolean cancels = with(this.cancelled);
		int process = this.random.nextInt(this.processes);
		Duration startAt = millis(1, this.horizon);
		LockMode mode = with(this.shared) ? LockMode.SHARED : LockMode.EXCLUSIVE;
		Duration waitTime = waitTime();
		Duration minHold = (!several && with(this.minHold)) ? evenly(50, 10_000) : Duration.ZERO;
		// without renewal, the lease must cover the minHold
		Duration covering = (renew || minHold.compareTo(lease) < 0) ? lease : minHold;
		return new Operation(number, process, startAt, names, mode, waitTime, covering, renew, minHold, this.fair, hold,
				cancels ? millis(1, 5_000) : null, style);
	}

	/** Adds many short operations on other locks, by one process at the same time. */
	private void burst(List<Operation> operations) {
		int process = this.random.nextInt(this.processes);
		Duration at = millis(1, this.horizon);
		Duration lease = lease();
		int size = 100 + this.random.nextInt(MOST_IN_BURST);
		for (int i = 0; i < size; i++) {
			operations.add(new Operation(operations.size(), process, at,
					List.of(LockName.of("other", String.valueOf(i))), LockMode.EXCLUSIVE, Duration.ofSeconds(10), lease,
					true, Duration.ZERO, false, millis(1, 50), null, Operation.Style.ACQUIRE));
		}
	}

	private static LockName lock(int number) {
		return LockName.of("stock", String.valueOf(number));
	}

	private Duration lease() {
		long least = Math.max(500, this.able.shortestLease().toMillis());
		return one(2) ? millis(least, 2 * least) : millis(least, 10_000);
	}

	private Duration waitTime() {
		return with(this.noWait) ? Duration.ZERO : one(2) ? millis(5, 10_000) : evenly(1_000, 10_000);
	}

	private Fault fault() {
		Fault.Kind kind = this.kinds.get(this.random.nextInt(this.kinds.size()));
		if (kind == Fault.Kind.KILL && !one(3)) {
			kind = Fault.Kind.PAUSE;
		}
		int target = this.random.nextInt((kind == Fault.Kind.STORE) ? this.storeFaults : this.processes);
		double share = one(2) ? 1 : 0.05 + 0.5 * this.random.nextDouble();
		return new Fault(kind, target, millis(1, this.horizon), one(2) ? millis(10, 15_000) : evenly(500, 10_000),
				share, evenly(100, 6_000));
	}

	private boolean one(int of) {
		return this.random.nextInt(of) == 0;
	}

	private boolean with(double share) {
		return this.random.nextDouble() < share;
	}

	private Duration evenly(long least, long most) {
		return Duration.ofMillis(this.random.nextLong(least, most + 1));
	}

	/** Returns a random duration. Short durations are as likely as long ones. */
	private Duration millis(long least, long most) {
		double exponent = this.random.nextDouble();
		return Duration.ofMillis(Math.round(least * Math.pow((double) Math.max(most, least) / least, exponent)));
	}

}
