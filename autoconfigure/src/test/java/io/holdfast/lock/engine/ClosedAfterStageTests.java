package io.holdfast.lock.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.aop.framework.ProxyFactory;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;

import static io.holdfast.lock.engine.EngineFixture.LOCK;
import static io.holdfast.lock.engine.EngineFixture.request;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that a lock held until a stage completes is released at that moment, whatever the
 * caller does to the returned future.
 */
class ClosedAfterStageTests {

	private static final LockName OTHER = LockName.of("other");

	private final EngineFixture fixture = new EngineFixture();

	private final FakeBackend backend = this.fixture.backend;

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.holdfast.lock.engine.FutureCompletions#completions")
	void lockIsKeptUntilTheBodyHasEnded(String name, Consumer<CompletableFuture<?>> end) {
		assertKeptUntilTheEnd(this.fixture.acquired(request()), end);
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("io.holdfast.lock.engine.FutureCompletions#completions")
	void lockOfOtherOperationsIsKeptUntilTheBodyHasEnded(String name, Consumer<CompletableFuture<?>> end) {
		ProxyFactory decorated = new ProxyFactory();
		decorated.setInterfaces(LockHandle.class);
		decorated.setTarget(this.fixture.acquired(request()));
		assertKeptUntilTheEnd((LockHandle) decorated.getProxy(), end);
	}

	private void assertKeptUntilTheEnd(LockHandle handle, Consumer<CompletableFuture<?>> end) {
		CompletableFuture<String> body = new CompletableFuture<>();
		end.accept(LockEngine.closeAfter(body, handle));
		assertThat(body).isNotDone();
		assertThat(this.backend.holds(LOCK)).isTrue();
		body.complete("done");
		this.fixture.assertNothingLeft();
	}

	/** The stages of such a body notify it when they are completed from outside. */
	@ParameterizedTest(name = "{0}")
	@MethodSource("io.holdfast.lock.engine.FutureCompletions#completions")
	void lockIsKeptUntilTheAcquisitionThatIsItsBodyHasEnded(String name, Consumer<CompletableFuture<?>> end) {
		LockHandle handle = this.fixture.acquired(request());
		this.backend.heldByAnother(OTHER);
		CompletableFuture<LockHandle> body = this.fixture.acquire(LockRequest.forLock(OTHER));
		end.accept(LockEngine.closeAfter(body, handle));
		assertThat(body).isNotDone();
		assertThat(this.backend.holds(LOCK)).isTrue();
		this.backend.freedByAnother(OTHER);
		body.join().close();
		Awaitility.await().untilAsserted(this.fixture::assertNothingLeft);
	}

	@Test
	void lockIsReleasedIfTheStageCannotBeFollowed() {
		CompletionStage<String> broken = new CompletableFuture<>() {
			@Override
			public CompletableFuture<String> whenComplete(BiConsumer<? super String, ? super Throwable> action) {
				throw new UnsupportedOperationException("broken");
			}
		};
		assertThat(LockEngine.closeAfter(broken, this.fixture.acquired(request()))).isCompletedExceptionally();
		this.fixture.assertNothingLeft();
	}

}
