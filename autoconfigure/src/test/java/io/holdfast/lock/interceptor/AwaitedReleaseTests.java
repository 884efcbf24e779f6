package io.holdfast.lock.interceptor;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockLostException;
import io.holdfast.lock.autoconfigure.DistributedLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockInterceptorAutoConfiguration;
import io.holdfast.lock.backend.local.LocalLockBackend;
import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.test.ForwardingBackend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Tests that annotated methods have the same outcome whether they return a future or a
 * value, also if callers wait for the release.
 */
class AwaitedReleaseTests {

	private final PlannedReleases backend = new PlannedReleases();

	private final CompletableFuture<String> body = new CompletableFuture<>();

	private final CompletableFuture<ReleaseResult> answer = new CompletableFuture<>();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(DistributedLockAutoConfiguration.class, LockInterceptorAutoConfiguration.class))
		.withBean(LockBackends.class, () -> new LockBackends(List.of(this.backend), this.backend.name()))
		.withBean(Orders.class);

	static Stream<CompletionStage<ReleaseResult>> answers() {
		return Stream.of(CompletableFuture.completedFuture(new ReleaseResult.Released()),
				CompletableFuture.completedFuture(new ReleaseResult.NotHeld()),
				CompletableFuture.completedFuture(new ReleaseResult.Indeterminate(new IllegalStateException("silent"))),
				CompletableFuture.failedFuture(new IllegalStateException("refused")));
	}

	private void run(boolean await, Consumer<Orders> test) {
		this.runner.withPropertyValues("distributed-lock.await-release=" + await)
			.run((context) -> test.accept(context.getBean(Orders.class)));
	}

	@Test
	void futureCompletesAfterTheAnswerToItsRelease() {
		this.backend.planned.add(this.answer);
		run(true, (orders) -> {
			CompletableFuture<String> result = orders.future(this.body);
			this.body.complete("done");
			assertThat(result).isNotDone();
			this.answer.complete(new ReleaseResult.Released());
			assertThat(result).succeedsWithin(60, TimeUnit.SECONDS).isEqualTo("done");
		});
	}

	@Test
	void futureDoesNotWaitForItsReleaseByDefault() {
		this.backend.planned.add(this.answer);
		run(false, (orders) -> {
			CompletableFuture<String> result = orders.future(this.body);
			this.body.complete("done");
			assertThat(result).isCompletedWithValue("done");
			this.answer.complete(new ReleaseResult.Released());
		});
	}

	@Test
	void futureFailsAsItsBodyForAnyReleaseResult() {
		this.backend.planned.add(this.answer);
		run(true, (orders) -> {
			CompletableFuture<String> result = orders.future(this.body);
			IllegalStateException failure = new IllegalStateException("no stock");
			this.body.completeExceptionally(failure);
			assertThat(result).isNotDone();
			this.answer.complete(new ReleaseResult.NotHeld());
			assertThat(catchThrowable(result::join)).hasCause(failure);
		});
	}

	@ParameterizedTest
	@MethodSource("answers")
	void futureEndsAsAMethodThatReturnsAValue(CompletionStage<ReleaseResult> answer) {
		run(true, (orders) -> {
			this.backend.planned.add(answer);
			Throwable ofValue = catchThrowable(() -> orders.value("done"));
			this.backend.planned.add(answer);
			CompletableFuture<String> result = orders.future(this.body);
			this.body.complete("done");
			Throwable ofFuture = catchThrowable(result::join);
			if (ofValue == null) {
				assertThat(ofFuture).isNull();
			}
			else {
				assertThat(ofValue).isInstanceOf(LockLostException.class);
				assertThat(ofFuture).cause().isInstanceOf(LockLostException.class);
				assertThat(withoutIdentity(ofFuture.getCause())).isEqualTo(withoutIdentity(ofValue));
			}
		});
	}

	private static String withoutIdentity(Throwable failure) {
		return failure.getMessage().replaceAll("token \\d+, owner [\\w-]+", "token");
	}

	static class Orders {

		@DistributedLock("order")
		public String value(String result) {
			return result;
		}

		@DistributedLock("order")
		public CompletableFuture<String> future(CompletableFuture<String> body) {
			return body;
		}

	}

	/** A backend that releases at once and returns the planned result. */
	private static final class PlannedReleases extends ForwardingBackend {

		private final Deque<CompletionStage<ReleaseResult>> planned = new ArrayDeque<>();

		PlannedReleases() {
			super(new LocalLockBackend());
		}

		@Override
		public CompletionStage<ReleaseResult> release(Grant grant) {
			CompletionStage<ReleaseResult> released = super.release(grant);
			@Nullable CompletionStage<ReleaseResult> answer = this.planned.poll();
			return (answer != null) ? answer : released;
		}

	}

}
