package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.spi.Capability;
import io.holdfast.lock.spi.TransactionBoundary;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the renewal of more leases than fit into one request.
 */
class RenewalRequestTests {

	private static final int HELD = 450;

	private static final Duration LEASE = Duration.ofSeconds(30);

	private final EngineFixture fixture = new EngineFixture();

	private final FakeBackend backend = this.fixture.backend;

	private final List<LockHandle> held = requests().map(this.fixture::acquired).toList();

	private static Stream<LockRequest.Builder> requests() {
		return IntStream.range(0, HELD)
			.mapToObj((number) -> LockRequest.forLock(LockName.of("stock", "" + number)).leaseTime(LEASE));
	}

	@Test
	void manyLeasesAreRenewedInRequestsOfTheSameSize() {
		this.fixture.time.advance(LEASE.dividedBy(3));
		assertThat(this.backend.batches).containsExactly(200, 200, 50);
		assertThat(this.held).allMatch((handle) -> handle.remainingValidity().compareTo(LEASE.minusSeconds(1)) > 0);
	}

	/** Otherwise, the slowest of thousands of responses decides for all leases. */
	@Test
	void silentRequestDelaysOnlyItsOwnLeases() {
		LockName[] silent = new LockName[1];
		this.backend.renewals.add((grant) -> {
			silent[0] = grant.claim().lock();
			return new CompletableFuture<>();
		});
		this.fixture.time.advance(LEASE.dividedBy(3));
		this.fixture.time.advance(Duration.ofSeconds(1));
		List<LockHandle> renewed = this.held.stream()
			.filter((handle) -> handle.remainingValidity().compareTo(LEASE.minusSeconds(2)) > 0)
			.toList();
		assertThat(renewed).hasSize(250).noneMatch((handle) -> handle.lock().equals(silent[0]));
	}

	/** Requests at the same time would need a connection each, and lock the same rows. */
	@Test
	void blockingStoreGetsOneRequestAfterAnother() {
		Deque<Runnable> tasks = new ArrayDeque<>();
		EngineFixture blocking = new EngineFixture(EngineSettings.DEFAULTS, TransactionBoundary.NONE, tasks::add);
		blocking.backend.capabilities = FakeBackend.capableOf(Capability.BLOCKING);
		requests().forEach(blocking::acquire);
		while (!tasks.isEmpty()) {
			tasks.remove().run();
		}
		blocking.time.advance(LEASE.dividedBy(3));
		assertThat(tasks).hasSize(1);
		tasks.remove().run();
		assertThat(blocking.backend.batches).containsExactly(200, 200, 50);
	}

	@Test
	void leaseThatEndsBeforeItsRenewalIsSentIsNotRenewed() {
		Deque<Runnable> tasks = new ArrayDeque<>();
		EngineFixture blocking = new EngineFixture(EngineSettings.DEFAULTS, TransactionBoundary.NONE, tasks::add);
		blocking.backend.capabilities = FakeBackend.capableOf(Capability.BLOCKING);
		CompletableFuture<LockHandle> handle = blocking.acquire(EngineFixture.request().leaseTime(LEASE));
		while (!tasks.isEmpty()) {
			tasks.remove().run();
		}
		blocking.time.advance(LEASE.dividedBy(3));
		Runnable renewal = tasks.remove();
		handle.join().close();
		assertThat(tasks).as("releases that wait for no renewal").hasSize(1);
		tasks.remove().run();
		renewal.run();
		assertThat(blocking.backend.calls).containsExactly("acquire stock:42", "release stock:42");
		blocking.assertNothingLeft();
	}

}
