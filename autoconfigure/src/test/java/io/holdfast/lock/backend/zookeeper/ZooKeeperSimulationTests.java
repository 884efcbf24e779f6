package io.holdfast.lock.backend.zookeeper;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;

import org.springframework.test.util.ReflectionTestUtils;

import io.holdfast.lock.test.simulation.Mutant;
import io.holdfast.lock.test.simulation.Simulations;
import io.holdfast.lock.test.simulation.Workload;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Runs the engine and the ZooKeeper backend on a model of an ensemble, with many seeds.
 */
class ZooKeeperSimulationTests {

	private static final int SEEDS = 20_000;

	@Test
	void engineKeepsItsPromisesOnAModelOfAnEnsemble() {
		Simulations.of("zookeeper", SimulatedZooKeeper::new).run(75);
	}

	@Test
	void followerWithoutContactToTheLeaderExtendsNoHold() {
		Simulations.of("zookeeper-single-member", SingleMemberStore::new, Workload.LONG_HOLDS).run(50);
	}

	@Test
	void engineKeepsItsPromisesWhileLeasesStayWithoutHolds() {
		Simulations.of("zookeeper-sticky", StickyZooKeeperStore::new, Workload.STICKY).run(75);
	}

	/** The mutant watches no wait queue, so no demand of another process arrives. */
	@Test
	void demandThatIsNotNoticedIsFound() {
		Mutant mutant = new Mutant().replace("backend.zookeeper.DemandWatch#watch", ZooKeeperSimulationTests.class,
				"readOnly");
		assertThat(mutant.find(StickyZooKeeperStore.class, Workload.STICKY, SEEDS, "idle")).isPositive();
	}

	static CompletableFuture<List<String>> readOnly(DemandWatch watch, QueueNode queueNode,
			CompletableFuture<Void> wanted) {
		queueNode.wanted.set(wanted);
		ZooKeeperCalls calls = (ZooKeeperCalls) Objects.requireNonNull(ReflectionTestUtils.getField(watch, "calls"));
		return calls.children(queueNode.queue);
	}

	/**
	 * A follower responds and then pauses before the leader is notified of the session.
	 */
	@Test
	void sessionThatLastsFromEachAnswerIsFound() {
		Mutant mutant = new Mutant().replace("backend.zookeeper.ProvingCalls#remainingSession",
				ZooKeeperSimulationTests.class, "wholeTimeout");
		assertThat(mutant.find(SingleMemberStore.class, Workload.LONG_HOLDS, SEEDS, "exclusion")).isPositive();
	}

	static Duration wholeTimeout(ProvingCalls calls, long session, long from) {
		return calls.sessionTimeout();
	}

	/**
	 * A waiting process pauses. When it resumes, its late attempt is granted and a timer
	 * deletes the node.
	 */
	@Test
	void grantOfAClaimThatATimerHasEndedIsFound() {
		Mutant mutant = new Mutant().answer("engine.LocalWaitQueues$Ticket#deadlineHasPassed", false)
			.answer("backend.zookeeper.QueueNode#isEnded", false)
			.answer("backend.zookeeper.QueueNode#grant", true);
		assertThat(mutant.find(ZooKeeperTimerStore.class, Workload.PAUSED_WAITERS, SEEDS, "exclusion")).isPositive();
	}

	/** The mutant grants a claim that has not read its wait queue, without the proof. */
	@Test
	void unreadWaitQueueOfOthersIsFound() {
		Mutant mutant = new Mutant().answer("backend.zookeeper.LastNodes$LastNode#isFollowedBy", true);
		assertThat(mutant.find(SimulatedZooKeeper.class, SEEDS, "exclusion")).isPositive();
	}

	/** The mutant lets a waiter forget all nodes before its own except the last. */
	@Test
	void nodeBeforeADeletedOneIsFound() {
		Mutant mutant = new Mutant().replace("backend.zookeeper.QueueNodeName#blockers", ZooKeeperSimulationTests.class,
				"lastBlocker");
		assertThat(mutant.find(SimulatedZooKeeper.class, SEEDS, "exclusion")).isPositive();
	}

	static List<QueueNodeName> lastBlocker(QueueNodeName own, List<QueueNodeName> queue) {
		List<QueueNodeName> before = queue.stream()
			.takeWhile((other) -> !other.equals(own))
			.filter((other) -> !(own.shared() && other.shared()))
			.toList();
		return before.subList(Math.max(0, before.size() - 1), before.size());
	}

	/**
	 * The mutant keeps a hold that was lost with its session in the memory of its
	 * process.
	 */
	@Test
	void lostHoldThatIsNotForgottenIsFound() {
		Mutant mutant = new Mutant().replace("backend.zookeeper.QueueNodes#sessionLost", ZooKeeperSimulationTests.class,
				"keepAll");
		assertThat(mutant.find(SimulatedZooKeeper.class, SEEDS, "leftovers")).isPositive();
	}

	static void keepAll(QueueNodes queueNodes, long session) {
		Object all = Objects.requireNonNull(ReflectionTestUtils.getField(queueNodes, "byOwner"));
		((Map<?, ?>) all).values().forEach((queueNode) -> ((QueueNode) queueNode).sessionLost(session));
	}

}
