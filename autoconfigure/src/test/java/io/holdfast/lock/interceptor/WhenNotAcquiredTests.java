package io.holdfast.lock.interceptor;

import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockNotAcquiredException;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.WhenNotAcquired;

import static io.holdfast.lock.interceptor.LocalLocks.nonWaiting;
import static io.holdfast.lock.interceptor.LocalLocks.runner;
import static io.holdfast.lock.interceptor.LocalLocks.whileHeld;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for what a call does whose lock was not acquired: throw, skip, or run a fallback.
 */
class WhenNotAcquiredTests {

	@Test
	void lockedByAnotherThrowsByDefault() {
		runner().withBean(Reactions.class).run((context) -> whileHeld(context, "busy", () -> {
			Reactions bean = context.getBean(Reactions.class);
			assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(bean::throwing)
				.withMessageContaining("Lock 'busy' was not acquired");
			assertThat(bean.runs).isZero();
		}));
	}

	@Test
	void skipReturnsNothingAndDoesNotRun() {
		runner().withBean(Reactions.class).run((context) -> whileHeld(context, "busy", () -> {
			Reactions bean = context.getBean(Reactions.class);
			assertThat(bean.skippingObject()).isNull();
			assertThat(bean.skippingOptional()).isEmpty();
			assertThat(bean.skippingNumber()).isEmpty();
			assertThat(bean.skippingFuture()).isCompletedWithValue(null);
			bean.skippingVoid();
			assertThat(bean.runs).isZero();
		}));
	}

	@Test
	void fallbackIsCalledWithTheArgumentsAndTheReason() {
		runner().withBean(Reactions.class).run((context) -> whileHeld(context, "busy", () -> {
			Reactions bean = context.getBean(Reactions.class);
			assertThat(bean.withFallback("x")).isEqualTo("later x");
			assertThat(bean.withReason("x")).startsWith("later x: Lock 'busy' was not acquired");
			assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> bean.withFailingFallback())
				.withMessage("fallback failed");
		}));
	}

	@Test
	void refusalOfANestedLockIsNotHandledAsTheMethodsOwn() {
		runner().withBean(Reactions.class).run((context) -> whileHeld(context, "inner", () -> {
			Reactions bean = context.getBean(Reactions.class);
			assertThatExceptionOfType(LockNotAcquiredException.class)
				.isThrownBy(() -> bean.skippingAround(context.getBean(LockOperations.class)))
				.withMessageContaining("'inner'");
		}));
	}

	static class Reactions {

		int runs;

		@DistributedLock(name = "busy", waitTime = "0s")
		public void throwing() {
			this.runs++;
		}

		@DistributedLock(name = "busy", waitTime = "0s", whenNotAcquired = WhenNotAcquired.SKIP)
		public @Nullable String skippingObject() {
			this.runs++;
			return "ran";
		}

		@DistributedLock(name = "busy", waitTime = "0s", whenNotAcquired = WhenNotAcquired.SKIP)
		public Optional<String> skippingOptional() {
			this.runs++;
			return Optional.of("ran");
		}

		@DistributedLock(name = "busy", waitTime = "0s", whenNotAcquired = WhenNotAcquired.SKIP)
		public OptionalLong skippingNumber() {
			this.runs++;
			return OptionalLong.of(1);
		}

		@DistributedLock(name = "busy", waitTime = "0s", whenNotAcquired = WhenNotAcquired.SKIP)
		public CompletableFuture<String> skippingFuture() {
			this.runs++;
			return CompletableFuture.completedFuture("ran");
		}

		@DistributedLock(name = "busy", waitTime = "0s", whenNotAcquired = WhenNotAcquired.SKIP)
		public void skippingVoid() {
			this.runs++;
		}

		@DistributedLock(name = "busy", waitTime = "0s", fallback = "later")
		public String withFallback(String value) {
			return "now " + value;
		}

		@SuppressWarnings("unused")
		private String later(String value) {
			return "later " + value;
		}

		@DistributedLock(name = "busy", waitTime = "0s", fallback = "laterBecause")
		public String withReason(String value) {
			return "now " + value;
		}

		String laterBecause(String value, LockNotAcquiredException reason) {
			return "later " + value + ": " + reason.getMessage();
		}

		@DistributedLock(name = "busy", waitTime = "0s", fallback = "failing")
		public void withFailingFallback() {
		}

		void failing() {
			throw new IllegalStateException("fallback failed");
		}

		@DistributedLock(name = "outer", whenNotAcquired = WhenNotAcquired.SKIP)
		public @Nullable String skippingAround(LockOperations locks) {
			return locks.execute(nonWaiting("inner"), (handle) -> "ran");
		}

	}

}
