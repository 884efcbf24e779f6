package io.holdfast.lock.autoconfigure;

import java.util.List;

import org.junit.jupiter.api.Test;

import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.MergedContextConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

/**
 * Tests for {@link LockSliceContextCustomizerFactory}.
 */
class LockSliceContextCustomizerFactoryTests {

	@Test
	void sliceThatIsProcessedAheadOfTimeGetsLocksFromItsCode() {
		assertThat(addsLocks()).isTrue();
		boolean again = TestPropertyValues.of("spring.aot.enabled=true")
			.applyToSystemProperties(LockSliceContextCustomizerFactoryTests::addsLocks);
		assertThat(again).isFalse();
	}

	/** Returns whether the customizer registers the configuration of locks. */
	private static boolean addsLocks() {
		ContextCustomizer customizer = new LockSliceContextCustomizerFactory().createContextCustomizer(Slice.class,
				List.of());
		assertThat(customizer).isNotNull();
		try (GenericApplicationContext context = new GenericApplicationContext()) {
			customizer.customizeContext(context, mock(MergedContextConfiguration.class));
			return context.containsBeanDefinition("lockSlice");
		}
	}

	@WebMvcTest
	static class Slice {

	}

}
