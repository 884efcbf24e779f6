package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.test.FailingLog;

import static io.holdfast.lock.engine.EngineFixture.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Tests for an appender that throws an exception if it cannot write, as those of Log4j do
 * with {@code ignoreExceptions="false"}.
 */
class FailingLogTests {

	private final EngineFixture fixture = new EngineFixture();

	@AutoClose
	private final FailingLog log = FailingLog.ofPackage(LossState.class);

	/** The loss of one lease and the renewal of the other fall due together. */
	@Test
	void lossIsPublishedAndOtherLeasesAreRenewed() {
		LockHandle lost = this.fixture
			.acquired(LockRequest.forLock(LockName.of("a")).leaseTime(Duration.ofSeconds(10)).renew(false));
		LockHandle other = this.fixture
			.acquired(LockRequest.forLock(LockName.of("b")).leaseTime(Duration.ofSeconds(30)));
		List<String> notified = new ArrayList<>();
		lost.onLost((event) -> notified.add("lost"));
		Throwable failure = catchThrowable(() -> this.fixture.time.advance(Duration.ofSeconds(10)));
		this.fixture.time.advance(Duration.ofSeconds(60));
		assertThat(other.isHeld()).isTrue();
		assertThat(notified).containsExactly("lost");
		assertThat(this.fixture.record.losses).hasSize(1);
		assertThat(failure).isNull();
		other.close();
		this.fixture.assertNothingLeft();
	}

	@Test
	void unconfirmedReleaseLetsTheNextCallerAsk() {
		this.fixture.backend.releases.add((grant) -> CompletableFuture
			.completedFuture(new ReleaseResult.Indeterminate(new IllegalStateException("no connection"))));
		LockHandle first = this.fixture.acquired(request());
		catchThrowable(first::close);
		this.fixture.time.advance(Duration.ofSeconds(1));
		this.fixture.acquired(request()).close();
		this.fixture.assertNothingLeft();
	}

}
