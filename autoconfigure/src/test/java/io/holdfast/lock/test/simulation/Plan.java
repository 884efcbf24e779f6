package io.holdfast.lock.test.simulation;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Collectors;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.engine.EngineSettings;
import io.holdfast.lock.spi.BackendCapabilities;

/**
 * What a run is to do and what is to go wrong in it. The same seed makes the same plan;
 * parts of a plan can be left out to find the smallest one that still fails.
 *
 * @param seed the seed that the plan was drawn with
 * @param noise the seed for what the plan leaves open, such as the time of each message
 * @param settings the settings of every engine
 * @param processes how many processes there are
 * @param operations what the processes do
 * @param faults what goes wrong
 */
record Plan(long seed, long noise, EngineSettings settings, int processes, List<Operation> operations,
		List<Fault> faults) {

	/** Operations and faults start within this time. */
	private static final Duration HORIZON = Duration.ofSeconds(20);

	static Plan of(long seed, BackendCapabilities able, int storeFaults) {
		return new Planner(seed, able, storeFaults).plan();
	}

	Plan without(Operation operation) {
		return new Plan(this.seed, this.noise, this.settings, this.processes,
				this.operations.stream().filter((other) -> other != operation).toList(), this.faults);
	}

	Plan without(Fault fault) {
		return new Plan(this.seed, this.noise, this.settings, this.processes, this.operations,
				this.faults.stream().filter((other) -> other != fault).toList());
	}

	Plan withNoise(long noise) {
		return new Plan(this.seed, noise, this.settings, this.processes, this.operations, this.faults);
	}

	@Override
	public String toString() {
		return "%d processes, lock-delay %dms%noperations:%n%s%nfaults:%n%s".formatted(this.processes,
				this.settings.lockDelay().toMillis(), lines(this.operations), lines(this.faults));
	}

	private static String lines(List<?> things) {
		return things.isEmpty() ? "  none"
				: things.stream().map((thing) -> "  " + thing).collect(Collectors.joining(System.lineSeparator()));
	}

	/** Draws a plan. */
	private static final class Planner {

		private static final int MOST_PROCESSES = 4;

		private static final int MOST_OPERATIONS = 24;

		private static final int MOST_FAULTS = 6;

		private final long seed;

		private final SplittableRandom random;

		private final BackendCapabilities able;

		private final int storeFaults;

		private final int processes;

		private final int locks;

		private final boolean fair;

		Planner(long seed, BackendCapabilities able, int storeFaults) {
			this.seed = seed;
			this.random = new SplittableRandom(seed);
			this.able = able;
			this.storeFaults = storeFaults;
			this.processes = 1 + this.random.nextInt(MOST_PROCESSES);
			this.locks = 1 + this.random.nextInt(2);
			this.fair = able.fair() && one(4);
		}

		Plan plan() {
			Duration delay = one(6) ? millis(100, 3_000) : Duration.ZERO;
			EngineSettings defaults = EngineSettings.DEFAULTS;
			EngineSettings settings = new EngineSettings(defaults.waitTime(), defaults.leaseTime(),
					defaults.responseTimeout(), false, false, defaults.shutdownTimeout(), false, delay);
			List<Operation> operations = new ArrayList<>();
			int count = 2 + this.random.nextInt(MOST_OPERATIONS);
			for (int i = 0; i < count; i++) {
				operations.add(operation(i));
			}
			List<Fault> faults = new ArrayList<>();
			int wrong = one(8) ? 0 : 1 + this.random.nextInt(MOST_FAULTS);
			for (int i = 0; i < wrong; i++) {
				faults.add(fault());
			}
			return new Plan(this.seed, this.seed, settings, this.processes, List.copyOf(operations),
					List.copyOf(faults));
		}

		private Operation operation(int number) {
			boolean several = this.locks > 1 && one(8);
			List<LockName> names = several ? List.of(lock(0), lock(1)) : List.of(lock(this.random.nextInt(this.locks)));
			Duration lease = lease();
			boolean renew = !one(4);
			Duration hold = renew ? millis(1, 2 * lease.toMillis()) : millis(1, lease.toMillis() * 5 / 4);
			Operation.Style style = Operation.Style.values()[this.random.nextInt(Operation.Style.values().length)];
			boolean cancelled = one(10) && style != Operation.Style.EXECUTE;
			return new Operation(number, this.random.nextInt(this.processes), millis(1, HORIZON.toMillis()), names,
					(this.able.shared() && one(4)) ? LockMode.SHARED : LockMode.EXCLUSIVE, waitTime(), lease, renew,
					(!several && one(5)) ? millis(1, 20_000) : Duration.ZERO, this.fair, hold,
					cancelled ? millis(1, 5_000) : null, style);
		}

		private static LockName lock(int number) {
			return LockName.of("stock", String.valueOf(number));
		}

		private Duration lease() {
			long least = Math.max(500, this.able.shortestLease().toMillis());
			return one(2) ? millis(least, 2 * least) : millis(least, 10_000);
		}

		private Duration waitTime() {
			return one(5) ? Duration.ZERO : millis(5, 12_000);
		}

		private Fault fault() {
			Fault.Kind[] kinds = Fault.Kind.values();
			Fault.Kind kind = kinds[this.random.nextInt(kinds.length)];
			if (kind == Fault.Kind.KILL && !one(3) || kind == Fault.Kind.STORE && this.storeFaults == 0) {
				kind = Fault.Kind.PAUSE;
			}
			int target = this.random.nextInt((kind == Fault.Kind.STORE) ? this.storeFaults : this.processes);
			double share = one(2) ? 1 : 0.05 + 0.5 * this.random.nextDouble();
			return new Fault(kind, target, millis(1, HORIZON.toMillis()), millis(1, 15_000), share, millis(1, 8_000));
		}

		private boolean one(int of) {
			return this.random.nextInt(of) == 0;
		}

		/** Small numbers are as likely as large ones. */
		private Duration millis(long least, long most) {
			double exponent = this.random.nextDouble();
			return Duration.ofMillis(Math.round(least * Math.pow((double) Math.max(most, least) / least, exponent)));
		}

	}

}
