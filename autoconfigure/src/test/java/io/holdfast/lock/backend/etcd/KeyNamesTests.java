package io.holdfast.lock.backend.etcd;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.Claim;

import static io.holdfast.lock.backend.Verbs.claim;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link KeyNames}.
 */
class KeyNamesTests {

	private static final Claim CLAIM = claim(LockName.of("stock", "42"));

	private final KeyNames names = new KeyNames(new EtcdKeys("shop", "client"));

	@Test
	void claimsHaveDifferentNames() {
		assertThat(this.names.take(CLAIM)).endsWith("/x-client.0");
		assertThat(this.names.take(CLAIM)).endsWith("/x-client.1");
		assertThat(this.names.take(claim(LockName.of("stock", "43")))).endsWith("/x-client.0");
	}

	@Test
	void smallestFreeNameIsUsedAgain() {
		String first = this.names.take(CLAIM);
		String second = this.names.take(CLAIM);
		String third = this.names.take(CLAIM);
		this.names.free(second);
		this.names.free(first);
		assertThat(this.names.take(CLAIM)).isEqualTo(first);
		assertThat(this.names.take(CLAIM)).isEqualTo(second).isNotEqualTo(third);
	}

	@Test
	void namesThatAreNotUsedTakeNoMemory() {
		String first = this.names.take(CLAIM);
		String second = this.names.take(CLAIM);
		this.names.free(first);
		assertThat(this.names.isEmpty()).isFalse();
		this.names.free(second);
		assertThat(this.names.isEmpty()).isTrue();
	}

	/** The response to its last attempt arrives late. */
	@Test
	void claimThatHasEndedTakesNoOtherName() {
		QueueNode node = new QueueNode(new ClaimKey(CLAIM, 1, this.names));
		node.end();
		node.key.free();
		node.renameKey();
		assertThat(this.names.isEmpty()).isTrue();
	}

}
