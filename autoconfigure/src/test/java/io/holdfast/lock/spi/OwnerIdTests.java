package io.holdfast.lock.spi;

import java.util.UUID;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link OwnerId}.
 */
class OwnerIdTests {

	@Test
	void randomIdentitiesAreDistinct() {
		assertThat(Stream.generate(OwnerId::random).limit(100)).doesNotHaveDuplicates()
			.allSatisfy((id) -> assertThat(UUID.fromString(id.value())).hasToString(id.value()));
	}

	@Test
	void identityIsItsText() {
		OwnerId random = OwnerId.random();
		OwnerId read = new OwnerId(random.value());
		assertThat(read).isEqualTo(random).hasSameHashCodeAs(random).hasToString(random.value());
		assertThat(random).isEqualTo(read).isNotEqualTo(OwnerId.random()).isNotEqualTo(random.value());
	}

}
