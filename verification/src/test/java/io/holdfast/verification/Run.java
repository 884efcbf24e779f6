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
 * One run: buyers place orders in a {@link Stage} while faults occur one after another,
 * drawn from a seed. The same seed draws the same faults for the same store.
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
	Verdict everything(int seconds) throws Exception {
		try (Stage stage = new Stage(this.store, this.fenced, this.mutation, true)) {
			stage.fillShelves();
			try (Buyers buyers = buyers(stage)) {
				long end = this.history.now() + seconds * 1_000L;
				List<Fault> deck = new ArrayList<>();
				while (this.history.now() < end) {
					if (deck.isEmpty()) {
						deck.addAll(stage.store().faults());
						Collections.shuffle(deck, this.random);
					}
					happen(deck.remove(0), stage);
				}
			}
			return verdict(stage);
		}
	}

	/** Applies one kind of fault several times. */
	Verdict only(Fault fault, int times) throws Exception {
		try (Stage stage = new Stage(this.store, this.fenced, this.mutation, false)) {
			stage.fillShelves();
			try (Buyers buyers = buyers(stage)) {
				for (int i = 0; i < times; i++) {
					happen(fault, stage);
				}
			}
			return verdict(stage);
		}
	}

	private Buyers buyers(Stage stage) {
		return new Buyers(stage.processes(), BUYERS_PER_PROCESS, stage.products(), this.history);
	}

	private void happen(Fault fault, Stage stage) throws Exception {
		TimeUnit.MILLISECONDS.sleep(CALM_MILLIS);
		Stage.Actor actor = stage.actors().get(this.random.nextInt(stage.actors().size()));
		long begin = this.history.now();
		fault.happen(stage, actor, this.random);
		this.history.add(new Incident(fault.name(), actor.number(), begin, this.history.now()));
	}

	private Verdict verdict(Stage stage) throws Exception {
		this.holders = stage.holders();
		Verdict verdict = Verdict.of(this.store, this.fenced, stage.books(), this.holders, this.history);
		logger.info("{}", verdict);
		return verdict;
	}

}
