package io.holdfast.lock.autoconfigure;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.AotDetector;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.AnnotatedBeanDefinitionReader;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.test.context.ContextConfigurationAttributes;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.ContextCustomizerFactory;
import org.springframework.test.context.MergedContextConfiguration;
import org.springframework.test.context.TestContextAnnotationUtils;

/**
 * Adds locks of this JVM to test slices such as {@code @WebMvcTest} and
 * {@code @DataJpaTest}. A slice includes only its own auto-configurations, so annotated
 * methods would run without their locks in it.
 */
final class LockSliceContextCustomizerFactory implements ContextCustomizerFactory {

	/** The annotation on every slice, of Spring Boot and of other projects. */
	private static final String SLICE = "org.springframework.boot.test.autoconfigure.OverrideAutoConfiguration";

	@Override
	public @Nullable ContextCustomizer createContextCustomizer(Class<?> testClass,
			List<ContextConfigurationAttributes> attributes) {
		MergedAnnotation<?> slice = MergedAnnotations.search(SearchStrategy.TYPE_HIERARCHY)
			.withEnclosingClasses(TestContextAnnotationUtils::searchEnclosingClass)
			.from(testClass)
			.get(SLICE);
		return (slice.isPresent() && !slice.getBoolean("enabled")) ? new AddLocks() : null;
	}

	/** A customizer, as a record so that equal slices share a cached context. */
	private record AddLocks() implements ContextCustomizer {

		@Override
		public void customizeContext(ConfigurableApplicationContext context, MergedContextConfiguration mergedConfig) {
			if (AotDetector.useGeneratedArtifacts()) {
				// the generated code of the slice contains the locks
				return;
			}
			new AnnotatedBeanDefinitionReader((BeanDefinitionRegistry) context, context.getEnvironment())
				.register(LockSlice.class);
		}

	}

}
