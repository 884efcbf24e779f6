package io.holdfast.lock.fencing;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThatNoException;

class InMemoryFencingGuardTests implements FencingGuardContract {

	@Override
	public FencingGuard guard() {
		return new InMemoryFencingGuard();
	}

	@Test
	void locksWithTheSameTextAreFencedIndependently() {
		FencingGuard guard = guard();
		guard.advance(TestHold.of("a\n", 20, "a"));
		assertThatNoException().isThrownBy(() -> guard.advance(TestHold.of("a\\u000a", 10, "b")));
	}

}
