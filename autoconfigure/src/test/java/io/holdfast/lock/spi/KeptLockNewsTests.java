package io.holdfast.lock.spi;

import java.time.Duration;
import java.util.Objects;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link KeptLock#ofMicros}.
 */
class KeptLockNewsTests {

	private static final long TOKEN = 7;

	private final Grant grant = new Grant(new Claim(LockName.of("stock"), OwnerId.random(), LockMode.EXCLUSIVE,
			Duration.ofSeconds(30), true, Duration.ofSeconds(20), false), TOKEN, Duration.ofSeconds(30));

	@Test
	void timesAreThoseBetweenRejectionAndRelease() {
		KeptLock kept = KeptLock.ofMicros(this.grant, TOKEN - 1, 1_000, 5_000, 3_000_000);
		assertThat(Objects.requireNonNull(kept).after()).isEqualTo(Duration.ofMillis(4));
		assertThat(kept.time()).isEqualTo(Duration.ofSeconds(3));
	}

	@Test
	void rejectionAfterTheReleaseMeansThatTheLockIsNoLongerKept() {
		assertThat(KeptLock.ofMicros(this.grant, TOKEN - 1, 5_000, 5_000, 3_000_000)).isNull();
	}

	/** Even if the clock was set back between release and rejection. */
	@Test
	void rejectionThatKnowsTheTokenMeansThatTheLockIsNoLongerKept() {
		assertThat(KeptLock.ofMicros(this.grant, TOKEN, 1_000, 5_000, 3_000_000)).isNull();
		assertThat(KeptLock.ofMicros(this.grant, TOKEN + 1, 1_000, 5_000, 3_000_000)).isNull();
	}

}
