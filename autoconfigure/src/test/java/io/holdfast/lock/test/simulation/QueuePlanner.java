package io.holdfast.lock.test.simulation;

import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.engine.EngineSettings;
import io.holdfast.lock.spi.BackendCapabilities;
import io.holdfast.lock.spi.Capability;

import static io.holdfast.lock.test.EngineSettingsBuilder.settings;

/**
 * Creates a random plan in which many callers wait for one lock for a long time.
 */
final class QueuePlanner {

	private static final List<LockName> LOCK = List.of(LockName.of("stock", "0"));

	private static final int LEAST_PROCESSES = 3;

	private static final int MOST_PROCESSES = 4;

	private static final int LEAST_OPERATIONS = 4;

	private static final int MOST_OPERATIONS = 8;

	private static final int HORIZON = 3_000;

	private static final int MOST_FAULTS = 3;

	private static final Duration LONG_LEASE = Duration.ofSeconds(10);

	private final SplittableRandom random;

	private final long seed;

	private final BackendCapabilities able;

	private final int storeFaults;

	private final Workload workload;

	private final int processes;

	/** The lease of all operations that may take over a lease. */
	private final Duration sameLease;

	QueuePlanner(long seed, BackendCapabilities able, int storeFaults, Workload workload) {
		this.seed = seed;
		this.random = new SplittableRandom(seed);
		this.able = able;
		this.storeFaults = storeFaults;
		this.workload = workload;
		this.processes = switch (workload) {
			case HANDOFFS, MIN_HOLDS -> this.random.nextInt(1, 3);
			case STICKY, FORCED_RELEASES -> this.random.nextInt(2, LEAST_PROCESSES + 1);
			default -> this.random.nextInt(LEAST_PROCESSES, MOST_PROCESSES + 1);
		};
		this.sameLease = shortLease();
	}

	Plan plan() {
		int count = this.random.nextInt(LEAST_OPERATIONS, MOST_OPERATIONS + 1);
		List<Operation> operations = IntStream.range(0, count).mapToObj(this::operation).toList();
		return new Plan(this.seed, this.seed, this.workload, engineSettings(), this.processes, operations, faults());
	}

	private EngineSettings engineSettings() {
		return switch (this.workload) {
			case HANDOFFS ->
				settings().handoff(this.random.nextInt(2, MOST_OPERATIONS), between(1_000, 20_000)).build();
			case STICKY -> settings().sticky(between(50, 5_000)).build();
			case FORCED_RELEASES -> settings().sticky(between(50, 5_000))
				.handoff(this.random.nextInt(1, MOST_OPERATIONS), between(1_000, 20_000))
				.build();
			default -> EngineSettings.DEFAULTS;
		};
	}

	private Duration shortLease() {
		long shortest = Math.max(500, this.able.shortestLease().toMillis());
		return between(shortest, 2 * shortest);
	}

	private Operation operation(int number) {
		long shortest = Math.max(500, this.able.shortestLease().toMillis());
		boolean outwaitsLeases = this.workload == Workload.SHORT_LEASES || this.workload == Workload.SHORT_HOLDS;
		Duration lease = switch (this.workload) {
			case PAUSED_WAITERS -> LONG_LEASE;
			case HANDOFFS, STICKY, FORCED_RELEASES, MIN_HOLDS -> this.sameLease;
			default -> shortLease();
		};
		Duration hold = switch (this.workload) {
			case LONG_HOLDS -> between(5_000, 15_000);
			case SHORT_HOLDS -> between(1, 50);
			case PAUSED_WAITERS -> between(1_000, 3_000);
			case HANDOFFS, FORCED_RELEASES -> between(1, 1_500);
			case STICKY, MIN_HOLDS -> between(1, 200);
			default -> between(shortest * 3 / 4, shortest * 9 / 10);
		};
		Duration minHold = (this.workload == Workload.MIN_HOLDS) ? between(2_000, 8_000) : Duration.ZERO;
		boolean shortWait = this.workload == Workload.PAUSED_WAITERS && number % 2 == 1;
		boolean noWait = isSticky() && number % 2 == 1;
		Duration wait = noWait ? Duration.ZERO : shortWait ? between(500, 2_000) : between(10_000, 20_000);
		return new Operation(number, this.random.nextInt(this.processes), between(1, HORIZON), LOCK, LockMode.EXCLUSIVE,
				wait, lease, !outwaitsLeases, minHold, this.able.has(Capability.FAIR) && !passesLeasesOn(), hold, null,
				Operation.Style.ACQUIRE);
	}

	/** Whether a lease may serve several operations. */
	private boolean passesLeasesOn() {
		return isSticky() || this.workload == Workload.HANDOFFS;
	}

	private boolean isSticky() {
		return this.workload == Workload.STICKY || this.workload == Workload.FORCED_RELEASES;
	}

	private List<Fault> faults() {
		if (this.workload == Workload.PAUSED_WAITERS) {
			return List.of(new Fault(Fault.Kind.PAUSE, this.random.nextInt(this.processes), between(1, HORIZON),
					between(2_000, 4_000), 1, Duration.ZERO));
		}
		if (this.workload == Workload.MIN_HOLDS) {
			return IntStream.rangeClosed(0, this.random.nextInt(MOST_FAULTS)).mapToObj((i) -> lateMessages()).toList();
		}
		if (passesLeasesOn()) {
			boolean forced = this.workload == Workload.FORCED_RELEASES;
			return IntStream.rangeClosed(0, this.random.nextInt(MOST_FAULTS))
				.mapToObj((i) -> (forced && i % 2 == 0) ? forcedRelease() : anyFault())
				.toList();
		}
		if (this.workload == Workload.LONG_HOLDS && this.storeFaults > 0) {
			return List.of(new Fault(Fault.Kind.STORE, this.random.nextInt(this.storeFaults), between(1, HORIZON),
					between(8_000, 15_000), 1, Duration.ZERO));
		}
		return List.of();
	}

	private Fault forcedRelease() {
		return new Fault(Fault.Kind.STORE, this.random.nextInt(this.storeFaults), between(1, 2 * HORIZON),
				Duration.ofMillis(1), 1, Duration.ZERO);
	}

	private Fault lateMessages() {
		return new Fault(this.random.nextBoolean() ? Fault.Kind.DELAY : Fault.Kind.LOSS,
				this.random.nextInt(this.processes), between(1, 2 * HORIZON), between(500, 3_000), 0.5,
				between(1_000, 6_000));
	}

	private Fault anyFault() {
		List<Fault.Kind> kinds = List.of(Fault.Kind.PAUSE, Fault.Kind.LOSS, Fault.Kind.DELAY, Fault.Kind.REPETITION);
		return new Fault(kinds.get(this.random.nextInt(kinds.size())), this.random.nextInt(this.processes),
				between(1, 2 * HORIZON), between(500, 3_000), 1, between(100, 2_000));
	}

	private Duration between(long least, long most) {
		return Duration.ofMillis(this.random.nextLong(least, most + 1));
	}

}
