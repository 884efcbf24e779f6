package io.holdfast.lock.fencing;

import java.util.List;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.StaleFencingTokenException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

/**
 * Contract of every fencing guard: which holders it admits, and which it rejects.
 */
interface FencingGuardContract {

	/**
	 * Returns a guard that has seen no holder, and whose calls each run in their own
	 * transaction.
	 */
	FencingGuard guard();

	@Test
	default void newerHolderPassesAndTheOlderDoesNotAfterIt() {
		FencingGuard guard = guard();
		guard.advance(TestHold.of("42", 10, "a"));
		guard.advance(TestHold.of("42", 20, "b"));
		assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> guard.advance(TestHold.of("42", 10, "a")))
			.withMessageContainingAll("'stock:42'", "backend redis", "token 10", "token 20", "Repeat the call")
			.satisfies((refusal) -> {
				assertThat(refusal.lock()).isEqualTo(LockName.of("stock", "42"));
				assertThat(refusal.backend()).isEqualTo("redis");
			});
		assertThatNoException().isThrownBy(() -> guard.advance(TestHold.of("42", 21, "c")));
	}

	@Test
	default void sameHolderPassesAgainAndAnotherWithItsTokenDoesNot() {
		FencingGuard guard = guard();
		guard.advance(TestHold.of("42", 10, "a"));
		guard.advance(TestHold.of("42", 10, "a"));
		assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> guard.advance(TestHold.of("42", 10, "b")));
		guard.advance(TestHold.of("42", 10, "a"));
	}

	@Test
	default void locksAreFencedIndependently() {
		FencingGuard guard = guard();
		guard.advance(TestHold.of("a", 20, "a"));
		guard.advance(TestHold.of("A", 10, "b"));
		guard.advance(TestHold.of("a ", 10, "c"));
		guard.advance(TestHold.of("x".repeat(500), 10, "d"));
		guard.advance(TestHold.of("鍵-🔒", 10, "e"));
	}

	@Test
	default void severalLocksPassTogetherOrNotAtAll() {
		FencingGuard guard = guard();
		guard.advance(TestHold.of("b", 20, "other"));
		assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> guard
				.advance(several(TestHold.of("a", 10, "x"), TestHold.of("b", 10, "y"), TestHold.of("c", 10, "z"))))
			.withMessageContaining("'stock:b'");
		guard.advance(TestHold.of("a", 9, "earlier"));
		guard.advance(TestHold.of("c", 9, "earlier"));
		guard.advance(several(TestHold.of("a", 30, "x"), TestHold.of("b", 30, "y"), TestHold.of("c", 30, "z")));
	}

	@Test
	default void readersDoNotOvertakeEachOther() {
		FencingGuard guard = guard();
		guard.advance(TestHold.reader("42", 20, "a"));
		guard.advance(TestHold.reader("42", 10, "b"));
		guard.advance(TestHold.of("42", 30, "writer"));
		guard.advance(TestHold.reader("42", 40, "c"));
		assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> guard.advance(TestHold.reader("42", 20, "a")))
			.withMessageContaining("token 30");
	}

	@Test
	default void writerFollowedByAReaderStillPasses() {
		FencingGuard guard = guard();
		guard.advance(TestHold.of("42", 10, "writer"));
		guard.advance(TestHold.reader("42", 20, "a"));
		guard.advance(TestHold.of("42", 30, "next"));
	}

	static LockHandle several(TestHold... parts) {
		return new SeveralHolds(List.of(parts));
	}

}
