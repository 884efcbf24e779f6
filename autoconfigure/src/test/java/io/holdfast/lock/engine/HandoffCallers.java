package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.spi.TransactionBoundary;

import static io.holdfast.lock.engine.EngineFixture.request;
import static io.holdfast.lock.test.EngineSettingsBuilder.settings;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Callers whose steps run when the test decides, on an engine that hands leases off.
 */
abstract class HandoffCallers {

	static final Duration LEASE = Duration.ofSeconds(30);

	static final Duration LONG = Duration.ofMinutes(1);

	/** Steps of the callers that have not run yet. */
	final Deque<Runnable> steps = new ArrayDeque<>();

	EngineFixture fixture = new EngineFixture(settings().handoff(4, Duration.ofMillis(5)).build(),
			TransactionBoundary.NONE, this.steps::add);

	void limit(int maxHolds, Duration maxTime) {
		this.fixture = new EngineFixture(settings().handoff(maxHolds, maxTime).build(), TransactionBoundary.NONE,
				this.steps::add);
	}

	void stickyFor(Duration sticky) {
		this.fixture = new EngineFixture(settings().sticky(sticky).build(), TransactionBoundary.NONE, this.steps::add);
	}

	CompletableFuture<LockHandle> acquire(LockRequest.Builder request) {
		CompletableFuture<LockHandle> handle = this.fixture.acquire(request);
		runSteps();
		return handle;
	}

	CompletableFuture<LockHandle> acquire() {
		return acquire(request());
	}

	void runSteps() {
		while (!this.steps.isEmpty()) {
			this.steps.poll().run();
		}
	}

	void close(CompletableFuture<LockHandle> handle) {
		handle.join().close();
		runSteps();
	}

	void assertNothingLeft() {
		runSteps();
		this.fixture.assertNothingLeft();
		assertThat(this.fixture.time.planned()).as("timers beside the watchdog's").isLessThanOrEqualTo(1);
		assertThat(this.fixture.record.losses).isEmpty();
	}

	List<String> calls() {
		return this.fixture.backend.calls;
	}

	/** A request that must not share a lease with others. */
	enum Unsuited {

		NOT_RENEWED((request) -> request.renew(false)),

		OTHER_LEASE((request) -> request.leaseTime(LEASE.plusSeconds(1)));

		private final Consumer<LockRequest.Builder> option;

		Unsuited(Consumer<LockRequest.Builder> option) {
			this.option = option;
		}

		LockRequest.Builder request() {
			LockRequest.Builder request = EngineFixture.request();
			this.option.accept(request);
			return request;
		}

	}

}
