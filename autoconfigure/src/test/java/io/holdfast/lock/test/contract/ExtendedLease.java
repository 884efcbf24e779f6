package io.holdfast.lock.test.contract;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;

import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.AcquireResult.Contended;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.ReleaseResult.Released;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A lease that is extended again and again, and therefore lasts longer than its lease
 * time. On a busy machine, an extension may be late. The lease has then expired as it
 * must, and another one with twice the lease time is observed.
 */
final class ExtendedLease {

	private static final int LEASES_TO_LAST = 2;

	private static final int EXTENSIONS_PER_LEASE = 6;

	private final Bench bench;

	private final Claim claim;

	private final Claim rival;

	private final Extension extension;

	/** When the latest request that restarted the lease was sent. */
	private long extendedAt;

	private ExtendedLease(Bench bench, Claim claim, Extension extension) {
		this.bench = bench;
		this.claim = claim;
		this.rival = Claims.exclusive(claim.lock());
		this.extension = extension;
	}

	/**
	 * Asserts that the extension works.
	 * @param bench the fixture
	 * @param kind changes an exclusive claim to the kind to test
	 * @param extension extends the lease
	 */
	static void happen(Bench bench, UnaryOperator<Claim> kind, Extension extension) throws Exception {
		Duration lease = bench.shortLease();
		while (!new ExtendedLease(bench, kind.apply(Claims.exclusive(Claims.newLock()).withLeaseTime(lease)), extension)
			.lasts()) {
			lease = lease.multipliedBy(2);
			assertThat(lease).as("lease that could not be extended in time").isLessThan(Claims.LONG_LEASE);
		}
	}

	/** Returns whether all extensions were in time. */
	private boolean lasts() throws Exception {
		long start = System.nanoTime();
		this.extendedAt = start;
		Grant grant = this.bench.acquire(this.bench.first(), this.claim);
		long nanos = this.claim.leaseTime().toNanos();
		while (System.nanoTime() - start < LEASES_TO_LAST * nanos) {
			LockSupport.parkNanos(nanos / EXTENSIONS_PER_LEASE);
			long requestedAt = System.nanoTime();
			boolean extended = this.extension.extend(grant);
			AcquireResult result = this.bench.attempt(this.bench.second(), this.rival);
			if (isLate()) {
				return withdraw();
			}
			assertThat(extended).as("extension of %s", grant).isTrue();
			assertThat(result).as("answer to %s", this.rival).isInstanceOf(Contended.class);
			this.extendedAt = requestedAt;
		}
		boolean released = this.bench.release(this.bench.first(), grant) instanceof Released;
		if (isLate()) {
			return withdraw();
		}
		assertThat(released).as("release of %s", grant).isTrue();
		return true;
	}

	private boolean isLate() {
		return System.nanoTime() - this.extendedAt > this.claim.leaseTime().toNanos();
	}

	private boolean withdraw() throws Exception {
		this.bench.abandon(this.bench.first(), this.claim);
		this.bench.abandon(this.bench.second(), this.rival);
		return false;
	}

	/**
	 * Extends a lease.
	 */
	interface Extension {

		/**
		 * Extends the lease of a grant once.
		 * @param grant the grant
		 * @return whether the lease was extended
		 */
		boolean extend(Grant grant) throws Exception;

	}

}
