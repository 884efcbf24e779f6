package io.holdfast.lock.autoconfigure;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.AnnotationAwareOrderComparator;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.test.Slow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * Tests for {@link LockConfigurationFailureAnalyzer}, with the output that a user sees.
 */
@ExtendWith(OutputCaptureExtension.class)
class LockConfigurationFailureAnalyzerTests {

	@Slow
	@Test
	void badAnnotationIsReportedWithoutAStackTrace(CapturedOutput output) {
		SpringApplication application = new SpringApplication(Application.class);
		application.setWebApplicationType(WebApplicationType.NONE);
		assertThatException().isThrownBy(() -> application.run("--distributed-lock.backend=local"));
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("@DistributedLock on " + BadKey.class.getName() + ".call(long): its key \"#ident\" uses #ident")
			.contains("Action:%n%nUse one of them.".formatted())
			.doesNotContain("\tat ");
	}

	@Test
	void problemWithoutARemedyHasAGeneralAction() {
		LockConfigurationException failure = new LockConfigurationException("'a.B' is wrong.");
		FailureAnalysis analysis = new LockConfigurationFailureAnalyzer().analyze(failure);
		assertThat(analysis).isNotNull();
		assertThat(analysis.getDescription()).isEqualTo("'a.B' is wrong.");
		assertThat(analysis.getAction()).startsWith("Correct this configuration");
	}

	/**
	 * Some settings are checked while Spring Boot binds them, whose analyzer would
	 * explain the class of the settings if its jar came first.
	 */
	@Test
	void comesBeforeAnalyzersThatAreRegisteredEarlier() {
		FailureAnalyzer registeredEarlier = (failure) -> null;
		List<FailureAnalyzer> analyzers = new ArrayList<>(
				List.of(registeredEarlier, new LockConfigurationFailureAnalyzer()));
		AnnotationAwareOrderComparator.sort(analyzers);
		assertThat(analyzers).last().isSameAs(registeredEarlier);
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ DistributedLockAutoConfiguration.class, LocalLockAutoConfiguration.class,
			LockInterceptorAutoConfiguration.class })
	static class Application {

		@Bean
		BadKey badKey() {
			return new BadKey();
		}

	}

	static class BadKey {

		@DistributedLock(name = "stock", key = "#ident")
		public void call(long id) {
		}

	}

}
