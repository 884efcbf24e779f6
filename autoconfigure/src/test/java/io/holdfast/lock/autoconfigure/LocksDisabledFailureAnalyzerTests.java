package io.holdfast.lock.autoconfigure;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.holdfast.lock.LockOperations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * Tests for {@link LocksDisabledFailureAnalyzer}, with the output that a user sees.
 */
@ExtendWith(OutputCaptureExtension.class)
class LocksDisabledFailureAnalyzerTests {

	@Test
	void missingBeanOfADisabledHoldfastNamesTheProperty(CapturedOutput output) {
		start(NeedsLocks.class, "--distributed-lock.enabled=false");
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("A bean of type 'io.holdfast.lock.LockOperations' is required, but does not exist because "
					+ "'distributed-lock.enabled' is false.")
			.contains("Remove 'distributed-lock.enabled=false'")
			.contains("ObjectProvider<LockOperations>")
			.doesNotContain("Consider defining a bean");
	}

	@Test
	void otherMissingBeansAreLeftToSpringBoot(CapturedOutput output) {
		start(NeedsOther.class, "--distributed-lock.enabled=false");
		start(NeedsLocks.class, "--distributed-lock.backend=local");
		assertThat(output).contains("Consider defining a bean of type 'java.lang.Thread'")
			.contains("Consider defining a bean of type 'io.holdfast.lock.LockOperations'")
			.doesNotContain("distributed-lock.enabled");
	}

	private static void start(Class<?> configuration, String argument) {
		SpringApplication application = new SpringApplication(configuration);
		application.setWebApplicationType(WebApplicationType.NONE);
		assertThatException().isThrownBy(() -> application.run(argument));
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration(LocksDisabledAutoConfiguration.class)
	static class NeedsLocks {

		@Bean
		String needs(LockOperations locks) {
			return locks.toString();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration(LocksDisabledAutoConfiguration.class)
	static class NeedsOther {

		@Bean
		String needs(Thread other) {
			return other.toString();
		}

	}

}
