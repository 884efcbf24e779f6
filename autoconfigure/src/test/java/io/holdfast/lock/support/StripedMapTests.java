package io.holdfast.lock.support;

import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link StripedMap}.
 */
class StripedMapTests {

	private final StripedMap<Integer, Integer> counts = new StripedMap<>();

	@Test
	void stepsOfManyThreadsExcludeEachOther() {
		IntStream.range(0, 100_000).parallel().forEach((i) -> count(i % 100));
		assertThat(this.counts.keys()).containsExactlyInAnyOrderElementsOf(IntStream.range(0, 100).boxed().toList());
		assertThat(IntStream.range(0, 100))
			.allSatisfy((key) -> assertThat(this.counts.of(key).get(key)).isEqualTo(1000));
	}

	@Test
	void removedEntriesLeaveNothing() {
		IntStream.range(0, 1000).forEach(this::count);
		IntStream.range(0, 1000).forEach((key) -> this.counts.of(key).remove(key));
		assertThat(this.counts.keys()).isEmpty();
	}

	private void count(int key) {
		StripedMap.Stripe<Integer, Integer> stripe = this.counts.of(key);
		stripe.lock();
		try {
			Integer present = stripe.get(key);
			stripe.put(key, (present != null) ? present + 1 : 1);
		}
		finally {
			stripe.unlock();
		}
	}

}
