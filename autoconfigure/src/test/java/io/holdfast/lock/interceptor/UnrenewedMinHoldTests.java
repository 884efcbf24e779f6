package io.holdfast.lock.interceptor;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.DistributedLock;

import static io.holdfast.lock.interceptor.LocalLocks.plainRunner;
import static io.holdfast.lock.interceptor.RefusedBeans.refused;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for annotations with a {@code minHold} whose lease is not renewed.
 */
class UnrenewedMinHoldTests {

	@Test
	void minHoldBeyondTheLeaseStopsTheStart() {
		refused(BeyondLease.class, "minHold of lock 'stock' is 10m, but its leaseTime is 5m",
				"Set leaseTime to at least 10m");
	}

	@Test
	void minHoldBeyondTheLeaseOfTheApplicationStopsTheStart() {
		refused(LeaseOfApplication.class,
				"asks for a minHold of 40s, but its lease is 30s ('distributed-lock.lease-time')",
				"Set a 'leaseTime' of at least 40s");
		plainRunner().withBean(LeaseOfApplication.class)
			.withPropertyValues("distributed-lock.lease-time=40s")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void minHoldWithinTheLeaseIsAccepted() {
		plainRunner().withBean(WithinLease.class).run((context) -> assertThat(context).hasNotFailed());
	}

	static class BeyondLease {

		@DistributedLock(name = "stock", leaseTime = "5m", renew = false, minHold = "10m")
		public void locked() {
		}

	}

	static class LeaseOfApplication {

		@DistributedLock(name = "stock", renew = false, minHold = "40s")
		public void call() {
		}

	}

	static class WithinLease {

		@DistributedLock(name = "stock", leaseTime = "10m", renew = false, minHold = "10m")
		public void locked() {
		}

	}

}
