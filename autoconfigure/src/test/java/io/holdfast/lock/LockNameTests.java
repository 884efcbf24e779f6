package io.holdfast.lock;

import java.util.List;
import java.util.Map;
import java.util.Optional;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link LockName}, the identity of a lock at every store.
 */
class LockNameTests {

	@ParameterizedTest
	@ValueSource(strings = { "\uD800", "a\uDC00", "\uDC00\uD800", "\uD800a" })
	void unpairedSurrogateIsRejected(String key) {
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> new LockName("stock", key))
			.withMessageContaining("The key of lock 'stock' contains an unpaired surrogate");
	}

	@Test
	void idIsParsedBack() {
		for (LockName lock : List.of(LockName.of("stock"), LockName.of("stock", 42), LockName.of("stock", "a:b\n"))) {
			assertThat(LockName.parse(lock.id())).isEqualTo(lock);
		}
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> LockName.parse("stock:"));
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> LockName.parse(":42"));
	}

	@Test
	void surrogatePairIsAKey() {
		assertThat(LockName.of("stock", "a\uD83D\uDD12").key()).isEqualTo("a\uD83D\uDD12");
	}

	@Test
	void objectKeyEqualsAnnotationKey() {
		assertThat(LockName.of("stock", Optional.of(42))).isEqualTo(LockName.of("stock", 42));
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> LockRequest.of("stock", new Object()))
			.withMessageContaining("The key of lock 'stock' is or contains a java.lang.Object");
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> LockRequest.of("stock", Map.of("a", 1)))
			.withMessageContaining("whose order may differ between JVMs");
	}

	@Test
	void keyWhoseTextCannotBeDeterminedIsRejected() {
		IllegalStateException failure = new IllegalStateException("not loaded");
		Object key = new Object() {

			@Override
			public String toString() {
				throw failure;
			}

		};
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> LockName.of("stock", key))
			.withMessage(
					"The key of lock 'stock' could not be converted to a text: IllegalStateException: not loaded. Use a value that identifies it, such as its id.")
			.withRootCauseExactlyInstanceOf(IllegalStateException.class);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " \t\n", "\u00a0", "\u2007\u202f", "\u3000", "\u200b", "\ufeff", "\u2060 \u00ad" })
	void keyThatCannotBeSeenIsBlank(String key) {
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> new LockName("stock", key))
			.withMessageContaining("The key of lock 'stock' is blank");
		assertThat(LockName.of("stock", key + "4").key()).isEqualTo(key + "4");
	}

	@ParameterizedTest
	@ValueSource(strings = { "\n", "\r", "\t", "\u0000", "\u001b", "\u0085", "\u2028", "\u2029" })
	void messagesContainNoControlCharacterOfAKey(String control) {
		LockName lock = LockName.of("stock", "4" + control + "2");
		assertThat(lock.id()).isEqualTo("stock:4" + control + "2");
		assertThat(lock).hasToString("stock:4\\u%04x2".formatted((int) control.charAt(0)));
	}

	@Test
	void textOfAnOrdinaryLockIsItsId() {
		assertThat(LockName.of("stock", "Größe 42")).hasToString("stock:Größe 42");
	}

}
