package io.holdfast.verification;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.holdfast.verification.History.Incident;
import io.holdfast.verification.TestEnvironment.Purpose;

/**
 * One run: buyers place orders in a {@link TestEnvironment} while faults occur one after
 * another, drawn from a seed. The same seed draws the same faults for the same store.
 */
final class Run implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(Run.class);

	private static final int BUYERS_PER_PROCESS = 8;

	private static final int PRODUCTS = 16;

	/** So few that each is ordered while one holder is paused. */
	private static final int FEW_PRODUCTS = 4;

	private static final long CALM_MILLIS = 600;

	/** The longest time after the last fault in which a lock may stay closed. */
	private static final long LONGEST_RECOVERY_MILLIS = 60_000;

	private final String store;

	private final boolean fenced;

	private final Random random;

	private final History history = new History();

	private final TestEnvironment environment;

	private final List<Long> products;

	private final AutoCloseable end;

	/** Creates a run in an environment of its own. */
	Run(String store, boolean fenced, long seed) throws Exception {
		this(new TestEnvironment(store, fenced, Purpose.SOME_FAULTS), fenced, seed, FEW_PRODUCTS);
	}

	private Run(TestEnvironment environment, boolean fenced, long seed, int products) throws Exception {
		this(environment, fenced, seed, products, environment::close);
	}

	private Run(TestEnvironment environment, boolean fenced, long seed, int products, AutoCloseable end)
			throws Exception {
		this.store = environment.store().name();
		this.fenced = fenced;
		this.random = new Random(seed);
		this.environment = environment;
		this.products = environment.newProducts(products);
		this.end = end;
	}

	/**
	 * Creates a run in which all kinds of faults can occur.
	 * @param arguments further arguments of each process
	 */
	static Run ofAllFaults(String store, boolean fenced, long seed, String... arguments) throws Exception {
		return new Run(new TestEnvironment(store, fenced, Purpose.ALL_FAULTS, arguments), fenced, seed, PRODUCTS);
	}

	/** Creates a run in processes with this defect, which end with the run. */
	static Run of(Mutation mutation, TestEnvironment environment, boolean fenced, long seed) throws Exception {
		return of(mutation, environment, fenced, seed, PRODUCTS);
	}

	/**
	 * Creates a run in which all orders need the same lock. At most one order of each
	 * process is then in its transaction, so a fault that waits for one affects no other.
	 */
	static Run ofOneProduct(TestEnvironment environment, boolean fenced, long seed) throws Exception {
		return of(Mutation.NONE, environment, fenced, seed, 1);
	}

	private static Run of(Mutation mutation, TestEnvironment environment, boolean fenced, long seed, int products)
			throws Exception {
		environment.forgetHolders();
		environment.mutate(mutation);
		return new Run(environment, fenced, seed, products, () -> environment.mutate(Mutation.NONE));
	}

	History history() {
		return this.history;
	}

	/** Returns which transactions have held which lock and when. */
	Holders holders() throws IOException {
		return this.environment.holders();
	}

	/**
	 * Applies every kind of fault in rotation, in an order that is drawn for each
	 * rotation.
	 */
	RunResult injectAll(int seconds) throws Exception {
		try (Buyers buyers = buyers()) {
			long end = this.history.now() + seconds * 1_000L;
			List<Fault> pendingFaults = new ArrayList<>();
			while (this.history.now() < end) {
				if (pendingFaults.isEmpty()) {
					pendingFaults.addAll(this.environment.store().faults());
					Collections.shuffle(pendingFaults, this.random);
				}
				inject(pendingFaults.remove(0));
			}
		}
		return result();
	}

	/**
	 * Applies one kind of fault several times.
	 * @return the result of everything that has happened in this run
	 */
	RunResult inject(Fault fault, int times) throws Exception {
		try (Buyers buyers = buyers()) {
			for (int i = 0; i < times; i++) {
				inject(fault);
			}
		}
		return result();
	}

	/** Places orders for one more product, without faults. */
	Sale sell(int orders, String lock) throws Exception {
		return Sale.of(this.environment.database(), this.environment.processes(), orders, lock);
	}

	private Buyers buyers() {
		return new Buyers(this.environment.processes(), BUYERS_PER_PROCESS, this.products,
				this.environment.pauseMillis(), this.history);
	}

	private void inject(Fault fault) throws Exception {
		TimeUnit.MILLISECONDS.sleep(CALM_MILLIS);
		List<TestEnvironment.Participant> participants = this.environment.participants();
		TestEnvironment.Participant participant = participants.get(this.random.nextInt(participants.size()));
		long begin = this.history.now();
		fault.inject(this.environment, participant, this.random);
		this.history.add(new Incident(fault.name(), participant.number(), begin, this.history.now()));
	}

	private RunResult result() throws Exception {
		int closed = closedProducts();
		RunResult result = RunResult.of(this.store, this.fenced, this.environment.records(this.products), holders(),
				this.history, closed);
		logger.info("{}", result);
		return result;
	}

	/**
	 * Orders each product at each process, now that no fault occurs. Returns how many
	 * products some process cannot sell, because a fault has left their locks closed.
	 */
	private int closedProducts() throws InterruptedException {
		long deadline = this.history.now() + LONGEST_RECOVERY_MILLIS;
		int closed = 0;
		for (long product : this.products) {
			boolean open = true;
			for (TestEnvironment.Participant participant : this.environment.participants()) {
				open &= isSold(product, participant, deadline);
			}
			closed += open ? 0 : 1;
		}
		return closed;
	}

	private boolean isSold(long product, TestEnvironment.Participant participant, long deadline)
			throws InterruptedException {
		while (Buyers.order(participant.number(), participant.process(), product,
				this.history) != History.Answer.PLACED) {
			if (this.history.now() > deadline) {
				return false;
			}
			TimeUnit.MILLISECONDS.sleep(this.environment.pauseMillis());
		}
		return true;
	}

	@Override
	public void close() throws Exception {
		this.end.close();
	}

}
