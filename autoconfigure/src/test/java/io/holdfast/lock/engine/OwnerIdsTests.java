package io.holdfast.lock.engine;

import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link OwnerIds}.
 */
class OwnerIdsTests {

	@Test
	void identitiesOfManyThreadsAreDistinct() {
		OwnerIds ids = new OwnerIds();
		Set<String> texts = IntStream.range(0, 100_000)
			.parallel()
			.mapToObj((i) -> ids.next(0).value())
			.collect(Collectors.toSet());
		assertThat(texts).hasSize(100_000).allSatisfy((text) -> assertThat(UUID.fromString(text)).hasToString(text));
	}

	/** The memory of a virtual machine may be restored later, and more than once. */
	@Test
	void batchIsNotUsedForLong() {
		OwnerIds.Batch batch = new OwnerIds.Batch(Long.MAX_VALUE);
		long end = Long.MAX_VALUE + TimeUnit.MILLISECONDS.toNanos(100);
		assertThat(batch.take(end)).isNotNull();
		assertThat(batch.take(end + 1)).isNull();
	}

	@Test
	void batchIsUsedUpOnce() {
		OwnerIds.Batch batch = new OwnerIds.Batch(0);
		assertThat(IntStream.range(0, OwnerIds.Batch.SIZE).mapToObj((i) -> batch.take(0))).doesNotContainNull()
			.doesNotHaveDuplicates();
		assertThat(batch.take(0)).isNull();
	}

}
