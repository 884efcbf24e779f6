package io.holdfast.lock.backend.jdbc;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for reading the notifications of releases.
 */
class ReleaseNoticeTests {

	private static final String OWNER = "0f08782d-0000-4000-8000-000000000001";

	@Test
	void lockThatIsKeptIsRead() {
		assertThat(ReleaseNotice.parse("id|" + OWNER + "|7|1700000000000000|3000000"))
			.isEqualTo(new ReleaseNotice("id", OWNER, 7, 1_700_000_000_000_000L, 3_000_000));
	}

	/** The channel is that of the database, not only of Holdfast. */
	@ParameterizedTest
	@ValueSource(strings = { "id", "", "a|b|c|d|e", "id||7|8|9", "id|" + OWNER + "|7|8|-9", "id|" + OWNER + "|7|8|9|10",
			"id|" + OWNER + "|99999999999999999999|8|9" })
	void anythingElseKeepsNoLock(String news) {
		assertThat(ReleaseNotice.parse(news)).isEqualTo(new ReleaseNotice(news, "", 0, 0, 0));
	}

}
