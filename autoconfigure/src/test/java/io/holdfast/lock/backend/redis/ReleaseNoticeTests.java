package io.holdfast.lock.backend.redis;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for reading the messages of releases.
 */
class ReleaseNoticeTests {

	@Test
	void lockThatIsKeptIsRead() {
		assertThat(ReleaseNotice.parse("owner|7|1700000000000000|3000|1"))
			.isEqualTo(new ReleaseNotice("owner", 7, 1_700_000_000_000_000L, 3_000, true));
	}

	@ParameterizedTest
	@ValueSource(
			strings = { "owner", "", "a|b|c|d|e", "owner|7|8|9", "owner|7|8|-9|0", "owner|99999999999999999999|8|9|0" })
	void anythingElseKeepsNoLock(String message) {
		assertThat(ReleaseNotice.parse(message)).isEqualTo(new ReleaseNotice(message, 0, 0, 0, false));
	}

}
