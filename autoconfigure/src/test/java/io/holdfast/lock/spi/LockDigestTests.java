package io.holdfast.lock.spi;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import io.holdfast.lock.LockName;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the digests under which stores and fences know a lock. Instances of different
 * versions must agree on them.
 */
class LockDigestTests {

	/**
	 * The expected values are those of
	 * {@code (printf 'shop\0'; printf 'stock:42' | iconv -t UTF-16BE) | sha256sum}.
	 */
	@ParameterizedTest
	@CsvSource({ "42,7a2b7c2997c55d8e6b7d20da98981ea2fde6853a2b5c317092c906de78693ed8",
			"Müller €\uD83D\uDD12,36f8137d2590f2fb5df2fb455283dee4dd1c9244cff6d573a0233ef8bba90a6f" })
	void digestIsTheSameInEveryVersion(String key, String digest) {
		assertThat(LockDigest.of("shop", LockName.of("stock", key))).isEqualTo(digest);
	}

	@Test
	void namespaceAndLockDoNotRunTogether() {
		assertThat(LockDigest.of("shop", LockName.of("stock")))
			.isNotEqualTo(LockDigest.of("sho", LockName.of("pstock")));
	}

	@Test
	void readableFormIsPrintableAndBounded() {
		assertThat(LockDigest.readable(LockName.of("stock", "Müller\n~ €"), 13)).isEqualTo("stock:M?ller?");
		assertThat(LockDigest.readable(LockName.of("stock", " ~"), 100)).isEqualTo("stock: ~");
	}

}
