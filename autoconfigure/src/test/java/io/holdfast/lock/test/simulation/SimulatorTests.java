package io.holdfast.lock.test.simulation;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the simulator itself.
 */
class SimulatorTests {

	private static final long SECOND = 1_000_000_000L;

	private final Simulation simulation = new Simulation(42, History.discarded());

	private final SimulatedNode client = this.simulation.server("client");

	private final SimulatedNode server = this.simulation.server("server");

	private final List<String> happened = new ArrayList<>();

	@ParameterizedTest
	@ValueSource(longs = { 1, 7, 42, 1_234 })
	void sameSeedGivesTheSameHistory(long seed) {
		assertSameHistory(Simulations.of("atomic", AtomicStore::new), seed);
		assertSameHistory(Simulations.of("local", LocalStore::new), seed);
		assertSameHistory(Simulations.of("blocking", BlockingStore::new), seed);
	}

	private static void assertSameHistory(Simulations simulations, long seed) {
		String history = simulations.history(seed);
		assertThat(history).isNotEmpty().isEqualTo(simulations.history(seed));
		assertThat(history).isNotEqualTo(simulations.history(seed + 1));
	}

	@Test
	void pausedNodeRunsNoTasksUntilItResumes() {
		this.client.after(SECOND, () -> this.happened.add("timer"));
		this.client.execute(() -> this.happened.add("task"));
		this.client.pause();
		runFor(5 * SECOND);
		assertThat(this.happened).isEmpty();
		this.client.resume();
		runFor(SECOND);
		assertThat(this.happened).containsExactlyInAnyOrder("timer", "task");
	}

	@Test
	void timersRunInTheirOrderAfterAPause() {
		for (int i = 9; i >= 0; i--) {
			int number = i;
			this.client.after(i * SECOND / 10, () -> this.happened.add("timer " + number));
		}
		this.client.pause();
		runFor(2 * SECOND);
		this.client.resume();
		runFor(SECOND);
		assertThat(this.happened).hasSize(10).isSorted();
	}

	@Test
	void cancelledTimerDoesNotRun() {
		Runnable cancel = this.client.after(SECOND, () -> this.happened.add("timer"));
		cancel.run();
		runFor(2 * SECOND);
		assertThat(this.happened).isEmpty();
		assertThat(this.client.pendingTimers()).isZero();
	}

	@Test
	void killedNodeRunsNoTasks() {
		this.client.after(SECOND, () -> this.happened.add("timer"));
		this.client.kill();
		this.client.execute(() -> this.happened.add("task"));
		runFor(2 * SECOND);
		assertThat(this.happened).isEmpty();
	}

	/** Because it no longer waits, other claims may be granted before its claim. */
	@Test
	void killedNodeIsNotCalm() {
		assertThat(this.client.calmSince(this.simulation.now())).isTrue();
		this.client.kill();
		assertThat(this.client.calmSince(this.simulation.now())).isFalse();
	}

	@Test
	void clocksOfTwoNodesDifferByAtMostOnePercent() {
		long client = this.client.nanos();
		long server = this.server.nanos();
		runFor(1_000 * SECOND);
		double ratio = (double) (this.client.nanos() - client) / (this.server.nanos() - server);
		assertThat(ratio).isBetween(0.99, 1.01).isNotEqualTo(1);
	}

	@Test
	void requestIsCarriedOutAndAnswered() {
		CompletableFuture<String> answer = link(SimulatedLink.Order.ANY).call(this::carryOut);
		runFor(SECOND);
		assertThat(this.happened).containsExactly("carried out");
		assertThat(answer).isCompletedWithValue("answer");
	}

	@Test
	void lostRequestIsNotCarriedOut() {
		startFault(SimulatedNetwork.Kind.OUTGOING_LOSS);
		CompletableFuture<String> answer = link(SimulatedLink.Order.ANY).call(this::carryOut);
		runFor(SECOND);
		assertThat(this.happened).isEmpty();
		assertThat(answer).isNotDone();
	}

	@Test
	void requestWhoseAnswerIsLostIsCarriedOut() {
		startFault(SimulatedNetwork.Kind.INCOMING_LOSS);
		CompletableFuture<String> answer = link(SimulatedLink.Order.ANY).call(this::carryOut);
		runFor(SECOND);
		assertThat(this.happened).containsExactly("carried out");
		assertThat(answer).isNotDone();
	}

	@Test
	void repeatedRequestIsCarriedOutTwice() {
		startFault(SimulatedNetwork.Kind.REPETITION);
		CompletableFuture<String> answer = link(SimulatedLink.Order.ANY).call(this::carryOut);
		runFor(3 * SECOND);
		assertThat(this.happened).containsExactly("carried out", "carried out");
		assertThat(answer).isCompletedWithValue("answer");
	}

	@Test
	void messagesOfOneConnectionKeepTheirOrderAcrossAPause() {
		SimulatedLink link = link(SimulatedLink.Order.IN_ORDER);
		this.server.pause();
		for (int i = 0; i < 10; i++) {
			int number = i;
			link.call(() -> this.happened.add("request " + number));
		}
		runFor(SECOND);
		this.server.resume();
		runFor(SECOND);
		assertThat(this.happened).hasSize(10).isSorted();
	}

	@Test
	void lossBreaksAConnectionThatKeepsOrder() {
		SimulatedLink link = link(SimulatedLink.Order.IN_ORDER);
		link.onCut(() -> this.happened.add("noticed"));
		startFault(SimulatedNetwork.Kind.OUTGOING_LOSS);
		CompletableFuture<String> answer = link.call(this::carryOut);
		runFor(SECOND);
		assertThat(answer).failsWithin(Duration.ZERO).withThrowableThat().withCauseInstanceOf(IOException.class);
		assertThat(this.happened).containsExactly("noticed");
	}

	private String carryOut() {
		this.happened.add("carried out");
		return "answer";
	}

	private SimulatedLink link(SimulatedLink.Order order) {
		return new SimulatedLink(this.client, this.server, order);
	}

	private void startFault(SimulatedNetwork.Kind kind) {
		this.simulation.network().begin(new SimulatedNetwork.NetworkFault(kind, this.client, 1, SECOND));
	}

	private void runFor(long nanos) {
		this.simulation.runUntil(this.simulation.now() + nanos);
	}

}
