package io.holdfast.lock.test.contract;

import java.time.Duration;
import java.util.Collection;
import java.util.Map;

import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.extension.ExtendWith;

import io.holdfast.lock.spi.LockBackend;

/**
 * Tests that every backend must pass. Extend this class and provide two clients of a real
 * store.
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
 * One instance runs all cases sequentially. {@code @BeforeAll} and {@code @BeforeEach}
 * methods may replace the clients. Each case uses its own locks, all with the lock name
 * {@code contract} except one named {@code other}, so all cases can share one store. A
 * case must not leave anything new in the store.
 *
 * <p>
 * A case that needs an {@link Ability} runs unless {@link #lacks()} contains this
 * ability. Otherwise the case is not generated, and the case
 * {@code missingAbilitiesAreListed} reports it with the reason. No case is skipped. If
 * the store is not available, the tests must fail.
 *
 * <p>
 * Requires JUnit Jupiter with {@code junit-jupiter-params}, AssertJ, and Awaitility on
 * the class path. Cases send single attempts to the store, from several threads, and take
 * seconds. They test the store and its backend, not the engine.
 */
@TestInstance(Lifecycle.PER_CLASS)
@ExtendWith(BenchExtension.class)
public abstract class LockBackendContract
		implements ExclusionCases, LeaseCases, RetainCases, StaleHolderCases, AbandonCases, LookupCases, WaitingCases,
		TokenCases, NameCases, FaultCases, SharedCases, FairCases, StickyCases, HistoryCases, CompletenessCases {

	/**
	 * Returns the first client of the store.
	 * @return the client, the same during one case
	 */
	protected abstract LockBackend backend();

	/**
	 * Returns another client of the same store. The two clients must share only what two
	 * JVMs could share.
	 * @return the client, the same during one case
	 */
	protected abstract LockBackend secondClient();

	/**
	 * Lists everything that the store currently keeps for locks: keys, nodes, rows,
	 * leases, and waiters, whether the locks are held or not. Data that only ensures
	 * growing tokens is not included.
	 * @return one readable line for each item, empty if there is none
	 * @throws Exception if the store cannot be queried
	 */
	protected abstract Collection<String> leftovers() throws Exception;

	/**
	 * Returns the abilities that this store or its harness lacks, each with the reason.
	 * The contract calls this method before it requests the clients.
	 * @return the reasons; empty by default
	 */
	protected Map<Ability, String> lacks() {
		return Map.of();
	}

	/**
	 * Returns the faults that the harness can cause in this store.
	 * @return the faults; none by default
	 */
	protected StoreFaults faults() {
		return StoreFaults.NONE;
	}

	/**
	 * Returns the lease time of grants that expire during a case. It must be short, but
	 * long enough for a few requests on a busy machine.
	 * @return the lease time; by default 500 milliseconds, or the shortest lease of the
	 * store if that is longer
	 */
	protected Duration shortLease() {
		Duration shortest = backend().capabilities().shortestLease();
		Duration half = Duration.ofMillis(500);
		return (shortest.compareTo(half) > 0) ? shortest : half;
	}

	/**
	 * Returns how long a case waits for an event that must happen soon: a response, a
	 * signal, the expiry of a short lease, or a reconnection. The bound must be far below
	 * the long lease of one minute.
	 * @return the bound; 10 seconds by default
	 */
	protected Duration bound() {
		return Duration.ofSeconds(10);
	}

}
