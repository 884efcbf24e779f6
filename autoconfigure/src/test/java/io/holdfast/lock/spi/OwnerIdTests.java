package io.holdfast.lock.spi;

import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link OwnerId} and its {@link RandomBatch}.
 */
class OwnerIdTests {

	@Test
	void identitiesOfManyThreadsAreDistinct() {
		Set<String> texts = IntStream.range(0, 100_000)
			.parallel()
			.mapToObj((i) -> OwnerId.random().value())
			.collect(Collectors.toSet());
		assertThat(texts).hasSize(100_000).allSatisfy((text) -> assertThat(UUID.fromString(text)).hasToString(text));
	}

	@Test
	void identityIsItsText() {
		OwnerId random = OwnerId.random();
		OwnerId read = new OwnerId(random.value());
		assertThat(read).isEqualTo(random).hasSameHashCodeAs(random).hasToString(random.value());
		assertThat(random).isEqualTo(read).isNotEqualTo(OwnerId.random()).isNotEqualTo(random.value());
	}

	/** The memory of a virtual machine may be restored later, and more than once. */
	@Test
	void batchIsNotUsedForLong() {
		RandomBatch batch = new RandomBatch(Long.MAX_VALUE);
		long end = Long.MAX_VALUE + TimeUnit.MILLISECONDS.toNanos(100);
		assertThat(batch.take(end)).isNotNull();
		assertThat(batch.take(end + 1)).isNull();
	}

	@Test
	void batchIsUsedUpOnce() {
		RandomBatch batch = new RandomBatch(0);
		assertThat(IntStream.range(0, RandomBatch.SIZE).mapToObj((i) -> batch.take(0))).doesNotContainNull()
			.doesNotHaveDuplicates();
		assertThat(batch.take(0)).isNull();
	}

}
