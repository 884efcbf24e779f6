package io.holdfast.verification;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.holdfast.verification.History.Incident;

/**
 * One run: buyers place orders in a {@link TestEnvironment} while faults occur one after
 * another, drawn from a seed. The same seed draws the same faults for the same store.
 */
final class Run {

	private static final Logger logger = LoggerFactory.getLogger(Run.class);

	private static final int BUYERS_PER_PROCESS = 8;

	private static final long CALM_MILLIS = 600;

	private final String store;

	private final boolean fenced;

	private final Mutation mutation;

	private final Random random;

	private final History history = new History();

	private Holders holders = new Holders();

	Run(String store, boolean fenced, long seed) {
		this(store, fenced, Mutation.NONE, seed);
	}

	Run(String store, boolean fenced, Mutation mutation, long seed) {
		this.store = store;
		this.fenced = fenced;
		this.mutation = mutation;
		this.random = new Random(seed);
	}

	History history() {
		return this.history;
	}

	/** Returns which transactions held which lock and when; complete after the run. */
	Holders holders() {
		return this.holders;
	}

	/**
	 * Applies every kind of fault in rotation, in an order that is drawn for each
	 * rotation.
	 */
	RunResult runAllFaults(int seconds) throws Exception {
		try (TestEnvironment environment = new TestEnvironment(this.store, this.fenced, this.mutation, true)) {
			environment.initializeStock();
			try (Buyers buyers = buyers(environment)) {
				long end = this.history.now() + seconds * 1_000L;
				List<Fault> pendingFaults = new ArrayList<>();
				while (this.history.now() < end) {
					if (pendingFaults.isEmpty()) {
						pendingFaults.addAll(environment.store().faults());
						Collections.shuffle(pendingFaults, this.random);
					}
					inject(pendingFaults.remove(0), environment);
				}
			}
			return result(environment);
		}
	}

	/** Applies one kind of fault several times. */
	RunResult runFault(Fault fault, int times) throws Exception {
		try (TestEnvironment environment = new TestEnvironment(this.store, this.fenced, this.mutation, false)) {
			environment.initializeStock();
			try (Buyers buyers = buyers(environment)) {
				for (int i = 0; i < times; i++) {
					inject(fault, environment);
				}
			}
			return result(environment);
		}
	}

	private Buyers buyers(TestEnvironment environment) {
		return new Buyers(environment.processes(), BUYERS_PER_PROCESS, environment.products(), this.history);
	}

	private void inject(Fault fault, TestEnvironment environment) throws Exception {
		TimeUnit.MILLISECONDS.sleep(CALM_MILLIS);
		List<TestEnvironment.Participant> participants = environment.participants();
		TestEnvironment.Participant participant = participants.get(this.random.nextInt(participants.size()));
		long begin = this.history.now();
		fault.inject(environment, participant, this.random);
		this.history.add(new Incident(fault.name(), participant.number(), begin, this.history.now()));
	}

	private RunResult result(TestEnvironment environment) throws Exception {
		this.holders = environment.holders();
		RunResult result = RunResult.of(this.store, this.fenced, environment.records(), this.holders, this.history);
		logger.info("{}", result);
		return result;
	}

}
