package io.holdfast.lock.test.simulation;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

/**
 * Executes one plan on one store.
 */
final class Run {

	/** Upper limit for the holds and waits that follow the last planned event. */
	private static final Duration SETTLE_TIME = Duration.ofSeconds(60);

	private final Plan plan;

	private final Simulation simulation;

	private final SimulatedStore store;

	private final List<SimulatedProcess> processes = new ArrayList<>();

	Run(Plan plan, SimulatedStore.Factory factory, Predicate<String> checks, History history) {
		this.plan = plan;
		this.simulation = new Simulation(plan.noise(), history);
		this.store = factory.create(this.simulation);
		this.simulation.checks().only(checks);
		this.simulation.checks().lockDelay(plan.settings().lockDelay());
		this.simulation.checks().longestLease(this.store.longestLease());
		if (plan.workload() == Workload.STICKY) {
			this.simulation.checks().idleLocksAreFree();
		}
		if (plan.workload() == Workload.HANDOFFS) {
			this.simulation.checks().longestTurn(plan.settings().handoff().maxHolds());
		}
		for (int i = 0; i < plan.processes(); i++) {
			this.processes.add(new SimulatedProcess(this.simulation, i, this.store, plan.settings()));
		}
	}

	/**
	 * Runs the plan until all operations and faults have ended.
	 * @return the violation, or {@code null} if there is none
	 */
	@Nullable Violation run() {
		long start = this.simulation.now();
		long last = start;
		for (Operation operation : this.plan.operations()) {
			SimulatedProcess process = this.processes.get(operation.process());
			long at = start + operation.startAt().toNanos();
			this.simulation.at(at, process, () -> process.start(operation));
			last = Math.max(last, at + operation.waitTime().plus(operation.holdFor()).toNanos());
		}
		for (Fault fault : this.plan.faults()) {
			long at = start + fault.startAt().toNanos();
			Runnable end = prepare(fault, at);
			this.simulation.at(at + fault.length().toNanos(), end);
			last = Math.max(last, at + fault.length().plus(fault.most()).toNanos());
		}
		Duration settleTime = SETTLE_TIME.plus(this.store.longestMemory()).plus(this.plan.settings().lockDelay());
		this.simulation.runUntil(last + settleTime.toNanos());
		if (this.simulation.checks().violation() == null) {
			this.simulation.checks().atEnd(this.store, this.processes);
		}
		this.simulation.checks().close();
		this.processes.forEach(SimulatedProcess::close);
		return this.simulation.checks().violation();
	}

	long steps() {
		return this.simulation.steps();
	}

	/**
	 * Schedules the start of a fault.
	 * @return the task that ends the fault
	 */
	private Runnable prepare(Fault fault, long at) {
		return switch (fault.kind()) {
			case PAUSE -> pause(this.processes.get(fault.target()), at);
			case KILL -> kill(this.processes.get(fault.target()), at);
			case STORE -> storeFault(fault, at);
			default -> networkFault(fault, at);
		};
	}

	private Runnable pause(SimulatedProcess process, long at) {
		this.simulation.at(at, process::pause);
		return process::resume;
	}

	private Runnable kill(SimulatedProcess process, long at) {
		this.simulation.at(at, process::kill);
		return () -> {
		};
	}

	private Runnable storeFault(Fault fault, long at) {
		SimulatedStore.StoreFault ofStore = this.store.faults().get(fault.target());
		this.simulation.at(at, () -> {
			record("begins: " + ofStore.name());
			disturbServers(at + fault.length().toNanos());
			ofStore.begin().run();
		});
		return () -> {
			record("ends: " + ofStore.name());
			ofStore.end().run();
		};
	}

	private void disturbServers(long until) {
		this.simulation.nodes()
			.stream()
			.filter((node) -> !(node instanceof SimulatedProcess))
			.forEach((server) -> server.disturbedUntil(until));
	}

	private Runnable networkFault(Fault fault, long at) {
		SimulatedProcess process = this.processes.get(fault.target());
		SimulatedNetwork.Kind kind = SimulatedNetwork.Kind.valueOf(fault.kind().name());
		SimulatedNetwork.NetworkFault networkFault = new SimulatedNetwork.NetworkFault(kind, process, fault.share(),
				fault.most().toNanos());
		this.simulation.at(at, () -> {
			record("begins: %s at %s, share=%.2f most=%dms".formatted(kind, process, fault.share(),
					fault.most().toMillis()));
			this.simulation.network().begin(networkFault);
		});
		return () -> {
			record("ends: %s at %s".formatted(kind, process));
			this.simulation.network().end(networkFault);
		};
	}

	private void record(String what) {
		this.simulation.history().add(this.simulation, "fault", "", () -> what);
	}

}
