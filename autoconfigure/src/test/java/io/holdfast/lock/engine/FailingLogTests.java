package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.spi.ReleaseResult;

import static io.holdfast.lock.engine.EngineFixture.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Tests for an appender that throws an exception if it cannot write, as those of Log4j do
 * with {@code ignoreExceptions="false"}.
 */
class FailingLogTests {

	private final EngineFixture fixture = new EngineFixture();

	private final Logger log = (Logger) LoggerFactory.getLogger(LossState.class.getPackageName());

	private final AppenderBase<ILoggingEvent> failing = new AppenderBase<>() {

		@Override
		public void doAppend(ILoggingEvent event) {
			throw new IllegalStateException("No space left on device");
		}

		@Override
		protected void append(ILoggingEvent event) {
		}

	};

	@BeforeEach
	void addAppender() {
		this.log.addAppender(this.failing);
	}

	@AfterEach
	void removeAppender() {
		this.log.detachAppender(this.failing);
	}

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
