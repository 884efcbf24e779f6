package io.holdfast.lock.interceptor;

import java.io.IOException;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.holdfast.lock.DistributedLock;

import static io.holdfast.lock.interceptor.LocalLocks.whileHeld;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Tests that a checked exception that a fallback does not declare, as those of Kotlin and
 * Lombok, reaches the caller like the same exception of the locked method.
 */
class UndeclaredExceptionTests {

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void fallbackOfAClassThrowsLikeItsMethod(boolean proxyTargetClass) {
		LocalLocks.runner()
			.withPropertyValues("spring.aop.proxy-target-class=" + proxyTargetClass)
			.withBean(Files.class, OnDisk::new)
			.run((context) -> {
				Files files = context.getBean(Files.class);
				String declaring = failure(files::declaring);
				String silent = failure(files::silent);
				whileHeld(context, "busy", () -> {
					assertThat(failure(files::declaring)).isEqualTo(declaring);
					assertThat(failure(files::silent)).isEqualTo(silent);
				});
			});
	}

	private static String failure(Call call) {
		Throwable thrown = catchThrowable(call::run);
		return (thrown.getCause() != null) ? thrown.getClass() + " of " + thrown.getCause() : thrown.toString();
	}

	interface Call {

		void run() throws IOException;

	}

	interface Files {

		void declaring() throws IOException;

		void silent();

		void fail();

	}

	static class OnDisk implements Files {

		@Override
		@DistributedLock(name = "busy", waitTime = "0s", fallback = "fail")
		public void declaring() throws IOException {
			fail();
		}

		@Override
		@DistributedLock(name = "busy", waitTime = "0s", fallback = "fail")
		public void silent() {
			fail();
		}

		@Override
		public void fail() {
			UndeclaredExceptionTests.<RuntimeException>throwUndeclared(new IOException("disk"));
		}

	}

	@SuppressWarnings("unchecked")
	private static <E extends Throwable> void throwUndeclared(Throwable exception) throws E {
		throw (E) exception;
	}

}
