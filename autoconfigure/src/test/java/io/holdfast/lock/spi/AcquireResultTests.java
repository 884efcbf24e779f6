package io.holdfast.lock.spi;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link AcquireResult}.
 */
class AcquireResultTests {

	/** A shared signal would keep the callbacks of all attempts forever. */
	@Test
	void polledResultsShareNoSignal() {
		AcquireResult.Contended first = AcquireResult.Contended.polled(Duration.ofMillis(50));
		AcquireResult.Contended second = AcquireResult.Contended.polled(Duration.ofMillis(50));
		assertThat(first.retryAfter()).isEqualTo(Duration.ofMillis(50));
		assertThat(first.signal()).isNotSameAs(second.signal());
		assertThat(first.signal().toCompletableFuture()).isNotDone();
	}

}
