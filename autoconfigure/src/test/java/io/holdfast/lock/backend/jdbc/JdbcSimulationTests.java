package io.holdfast.lock.backend.jdbc;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.test.simulation.Mutant;
import io.holdfast.lock.test.simulation.Simulations;
import io.holdfast.lock.test.simulation.Workload;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Runs the engine and the backend for databases on H2 with a virtual clock, with many
 * seeds.
 */
class JdbcSimulationTests {

	private static final int SEEDS = 20_000;

	/** The text of each statement. */
	private static final String TEXT = "backend.jdbc.H2Store#adapted";

	@Test
	void engineKeepsItsPromisesOnADatabase() {
		Simulations.of("jdbc", H2Store::new).run(30);
	}

	@Test
	void engineKeepsItsPromisesOnADatabaseWithHandoffs() {
		Simulations.of("jdbc-handoff", H2Store::new, Workload.HANDOFFS).run(60);
	}

	/** The mutant carries out a late release although another holder has the lock. */
	@Test
	void releaseThatDoesNotCheckTheOwnerIsFound() {
		Mutant mutant = new Mutant().replace(TEXT, JdbcSimulationTests.class, "withoutOwner");
		assertThat(mutant.find(H2Store.class, SEEDS, "exclusion")).isPositive();
	}

	static String withoutOwner(H2Store store, String statement) {
		return H2Store.inVirtualTime(statement).replace("owner = ? AND token = ?", "? <> '' AND ? > 0");
	}

	/** The mutant grants a lock that readers hold. */
	@Test
	void writerThatIgnoresReadersIsFound() {
		Mutant mutant = new Mutant().replace(TEXT, JdbcSimulationTests.class, "withoutReaders");
		assertThat(mutant.find(H2Store.class, SEEDS, "exclusion")).isPositive();
	}

	static String withoutReaders(H2Store store, String statement) {
		return H2Store.inVirtualTime(statement).replaceAll("AND (l\\.)?readers_until_us <= [^\\n]*BIGINT\\)", "");
	}

	/** The mutant overlooks the claims that wait, so that a turn follows another one. */
	@Test
	void waiterThatIsOverlookedIsFound() {
		Mutant mutant = new Mutant().replace(TEXT, JdbcSimulationTests.class, "withoutWaiters").likelyAt(4_092);
		assertThat(mutant.find(H2Store.class, Workload.HANDOFFS, SEEDS, "turns")).isPositive();
	}

	static String withoutWaiters(H2Store store, String statement) {
		return H2Store.inVirtualTime(statement).replaceAll("CASE WHEN l\\.waiter_until_us <= [^\\n]* END", "1");
	}

}
