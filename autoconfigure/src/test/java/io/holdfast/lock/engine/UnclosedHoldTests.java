package io.holdfast.lock.engine;

import java.time.Duration;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockContext;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockLostException;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.spi.ManagedHold;
import io.holdfast.lock.spi.ManagedHold.Checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for the diagnosis of a hold that code acquired and left open on its thread.
 */
class UnclosedHoldTests {

	private final EngineFixture fixture = new EngineFixture();

	private final LockRequest request = LockRequest.forLock(LockName.of("stock", "42"))
		.leaseTime(Duration.ofSeconds(30))
		.renew(false)
		.build();

	@AfterEach
	void nothingIsLeft() {
		assertThat(LockContext.handles()).isEmpty();
	}

	@Test
	void refusalNamesLockThreadTimeAndRemedy() {
		try (LockHandle unclosed = this.fixture.engine.acquire(this.request)) {
			this.fixture.time.advance(Duration.ofSeconds(35));
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> ((ManagedHold) unclosed).verify(Checkpoint.COMMIT))
				.withMessageContainingAll("'stock:42'", "the transaction is rolled back",
						"this thread ('" + Thread.currentThread().getName() + "') 35s ago", "try-with-resources");
			assertThatExceptionOfType(LockLostException.class).as("entered again")
				.isThrownBy(() -> this.fixture.engine.acquire(this.request))
				.withMessageContaining("try-with-resources");
		}
	}

	@Test
	void ofSeveralLocksEachIsNamed() {
		LockRequest several = this.request.toBuilder().and(LockName.of("stock", "43"), LockMode.EXCLUSIVE).build();
		try (LockHandle unclosed = this.fixture.engine.tryAcquire(several).orElseThrow()) {
			assertThat(unclosed.parts()).hasSize(2)
				.allSatisfy((part) -> assertThat(ManagedHold.diagnosis(part)).contains("acquired in code"));
		}
	}

	@Test
	void holdClosedByExecuteIsNotSuspected() {
		String diagnosis = this.fixture.engine.execute(this.request, ManagedHold::diagnosis);
		assertThat(diagnosis).isEmpty();
	}

	@Test
	void holdThatIsNotOnThisThreadIsNotSuspected() {
		LockHandle passedOn = this.fixture.engine.acquire(this.request);
		LockContext.unbind(passedOn);
		assertThat(ManagedHold.diagnosis(passedOn)).isEmpty();
		passedOn.close();
	}

}
