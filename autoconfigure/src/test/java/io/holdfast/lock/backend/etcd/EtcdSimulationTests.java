package io.holdfast.lock.backend.etcd;

import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;

import org.springframework.test.util.ReflectionTestUtils;

import io.holdfast.lock.test.simulation.Mutant;
import io.holdfast.lock.test.simulation.Simulations;
import io.holdfast.lock.test.simulation.Workload;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Runs the engine and the etcd backend on a model of etcd, with many seeds.
 */
class EtcdSimulationTests {

	private static final int SEEDS = 20_000;

	@Test
	void engineKeepsItsPromisesOnEtcd() {
		Simulations.of("etcd", EtcdStore::new).run(300);
	}

	@Test
	void engineKeepsItsPromisesOnEtcdWhileLeasesStayWithoutHolds() {
		Simulations.of("sticky etcd", EtcdStore::new, Workload.STICKY).run(200);
	}

	/** The mutant misses the claims that enter the wait queue of a sticky lease. */
	@Test
	void demandThatIsMissedIsFound() {
		Mutant mutant = new Mutant().skip("backend.etcd.DemandWatch#written");
		assertThat(mutant.find(EtcdStore.class, Workload.STICKY, SEEDS, "idle")).isPositive();
	}

	/**
	 * The mutant lets etcd carry out an attempt after its claim was released or
	 * abandoned.
	 */
	@Test
	void attemptThatNoEpochEndsIsFound() {
		Mutant mutant = new Mutant().complete("backend.etcd.Session#passed");
		assertThat(mutant.find(EtcdStore.class, SEEDS, "forgotten")).isPositive();
	}

	/**
	 * A waiting process pauses. When it resumes, its late attempt is granted and a timer
	 * deletes the key.
	 */
	@Test
	void grantOfAClaimThatATimerHasEndedIsFound() {
		Mutant mutant = new Mutant().answer("engine.LocalWaitQueues$Ticket#deadlineHasPassed", false)
			.replace("backend.etcd.QueueNode#grant", EtcdSimulationTests.class, "grantAnyway");
		assertThat(mutant.find(EtcdTimerStore.class, Workload.PAUSED_WAITERS, SEEDS, "exclusion")).isPositive();
	}

	static boolean grantAnyway(QueueNode queueNode, long revision) {
		ReflectionTestUtils.setField(queueNode, "granted", true);
		return queueNode.lease() != null;
	}

	@Test
	void revokedLeasesLeaveNothing() {
		assertThat(Simulations.of("etcd-revoked", EtcdRevokedStore::new).find(200, "leftovers")).isZero();
	}

	/** The mutant keeps a lost hold in the memory of its process. */
	@Test
	void lostHoldThatIsNotForgottenIsFound() {
		Mutant mutant = new Mutant().complete("backend.etcd.ClaimEnds#lost");
		assertThat(mutant.find(EtcdRevokedStore.class, SEEDS, "leftovers")).isPositive();
	}

	@Test
	void waitsLongerThanLeasesEndInOrderAndWithAWholeLease() {
		Simulations.of("etcd-short-leases", EtcdStore::new, Workload.SHORT_LEASES).run(200);
	}

	/** The mutant grants a waiter only the rest of a lease that started with its wait. */
	@Test
	void leaseThatStartsWithTheWaitIsFound() {
		Mutant mutant = new Mutant().replace("backend.etcd.EtcdLease#renewed", EtcdSimulationTests.class, "unchanged");
		assertThat(mutant.find(EtcdStore.class, Workload.SHORT_LEASES, SEEDS, "lease")).isPositive();
	}

	static CompletableFuture<EtcdLease> unchanged(EtcdLease lease) {
		return CompletableFuture.completedFuture(lease);
	}

	/** The mutant lets others overtake a waiter whose wait exceeds its lease. */
	@Test
	void positionThatEndsWithTheLeaseIsFound() {
		Mutant mutant = new Mutant().skip("backend.etcd.QueueNode#renewWhileWaiting");
		assertThat(mutant.find(EtcdStore.class, Workload.SHORT_LEASES, SEEDS, "order")).isPositive();
	}

}
