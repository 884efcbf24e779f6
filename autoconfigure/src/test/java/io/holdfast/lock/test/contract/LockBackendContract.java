package io.holdfast.lock.test.contract;

import java.time.Duration;
import java.util.Collection;
import java.util.Map;

import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.extension.ExtendWith;

import io.holdfast.lock.spi.LockBackend;

/**
 * What every store must prove: extend this class, hand it two clients of a real store,
 * and all of its cases must pass.
 *
 * <pre>{@code
 * class AcmeLockBackendContractTests extends LockBackendContract {
 *
 * 	private static final AcmeServer server = AcmeServer.start();
 *
 * 	private final AcmeLockBackend first = new AcmeLockBackend(server.connect());
 *
 * 	private final AcmeLockBackend second = new AcmeLockBackend(server.connect());
 *
 * 	protected LockBackend backend() { return this.first; }
 *
 * 	protected LockBackend secondClient() { return this.second; }
 *
 * 	protected Collection<String> leftovers() { return server.keysButThoseOfTokens(); }
 *
 * 	protected Map<Ability, String> lacks() {
 * 		return Map.of(Ability.KILLED_SESSION, "a grant is tied to no session");
 * 	}
 *
 * 	protected StoreFaults faults() { return server; }
 *
 * }
 * }</pre>
 *
 * <p>
 * One instance runs all cases, one after the other; {@code @BeforeAll} and
 * {@code @BeforeEach} may replace the clients. Every case takes locks that no other case
 * uses, all of the lock name {@code contract}, so they can share one store. After each
 * case nothing new may be left in the store.
 *
 * <p>
 * A case that needs an {@link Ability} runs unless the store {@link #lacks()} it; then it
 * is not generated at all, and the case {@code whatIsLackingIsListed} reports it with its
 * reason. Nothing is skipped. A store that is not there must fail the tests.
 *
 * <p>
 * The kit needs JUnit Jupiter with its parameters, AssertJ and Awaitility on the class
 * path. Cases speak to the store in single attempts, from several threads, and take
 * seconds; they are about what the store does and not about the engine above it.
 */
@TestInstance(Lifecycle.PER_CLASS)
@ExtendWith(BenchExtension.class)
public abstract class LockBackendContract
		implements ExclusionCases, LeaseCases, RetainCases, StaleHolderCases, GivingUpCases, WaitingCases, TokenCases,
		NameCases, FaultCases, SharedCases, FairCases, HistoryCases, CompletenessCases {

	/**
	 * The first client of the store.
	 * @return the client, the same during one case
	 */
	protected abstract LockBackend backend();

	/**
	 * Another client of the same store, which shares nothing with the first that two JVMs
	 * would not share.
	 * @return the client, the same during one case
	 */
	protected abstract LockBackend secondClient();

	/**
	 * What the store remembers of locks at this moment: their keys, nodes, rows, leases
	 * and waiters, held or not. A memory that only serves to let tokens grow is not among
	 * them.
	 * @return one readable line for each, empty if there is nothing
	 * @throws Exception if the store could not be asked
	 */
	protected abstract Collection<String> leftovers() throws Exception;

	/**
	 * What this store, or its harness, cannot do, each with the reason. Asked before the
	 * clients are.
	 * @return the reasons; empty by default
	 */
	protected Map<Ability, String> lacks() {
		return Map.of();
	}

	/**
	 * What the harness can do to this store.
	 * @return the faults; none by default
	 */
	protected StoreFaults faults() {
		return StoreFaults.NONE;
	}

	/**
	 * The lease of grants that a case lets end. Short, but long enough for a few requests
	 * on a busy machine.
	 * @return the lease; by default half a second, or the store's shortest if that is
	 * longer
	 */
	protected Duration shortLease() {
		Duration shortest = backend().capabilities().shortestLease();
		Duration half = Duration.ofMillis(500);
		return (shortest.compareTo(half) > 0) ? shortest : half;
	}

	/**
	 * How long a case waits for what must happen soon: an answer, a wake-up, the end of a
	 * short lease, a reconnection. Far below the minute that long leases have.
	 * @return the bound; ten seconds by default
	 */
	protected Duration bound() {
		return Duration.ofSeconds(10);
	}

}
