package io.holdfast.lock.autoconfigure;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.http.converter.autoconfigure.HttpMessageConvertersAutoConfiguration;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.webmvc.autoconfigure.DispatcherServletAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.converter.HttpMessageConverters;
import org.springframework.http.converter.StringHttpMessageConverter;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

import io.holdfast.lock.test.Slow;
import io.holdfast.lock.web.LockExceptionResolver;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link LockWebMvcAutoConfiguration} and the answer of Spring MVC.
 */
@ExtendWith(OutputCaptureExtension.class)
class LockWebMvcAutoConfigurationTests {

	private final WebApplicationContextRunner runner = new WebApplicationContextRunner().withBean(LockFailures.class)
		.withConfiguration(AutoConfigurations.of(LockWebMvcAutoConfiguration.class, JacksonAutoConfiguration.class,
				HttpMessageConvertersAutoConfiguration.class, WebMvcAutoConfiguration.class,
				DispatcherServletAutoConfiguration.class));

	@ParameterizedTest
	@ValueSource(strings = { "/held", "/async" })
	void contentionIsAProblemThatNamesLockAndWait(String uri, CapturedOutput output) {
		this.runner.run((context) -> {
			assertThat(MockMvcTester.from(context).get().uri(uri)).hasStatus(HttpStatus.SERVICE_UNAVAILABLE)
				.hasContentType(MediaType.APPLICATION_PROBLEM_JSON)
				.hasHeader(HttpHeaders.RETRY_AFTER, "1")
				.bodyJson()
				.isLenientlyEqualTo("""
						{
							"type": "urn:holdfast:lock-not-acquired", "title": "Lock not acquired", "status": 503,
							"detail": "Another holder still had lock 'stock:42' after 1.5s. Repeat the call later.",
							"instance": "%s", "lock": "stock:42", "waited": "PT1.5S", "reason": "held"
						}
						""".formatted(uri));
			assertThat(output.getAll().lines().filter((line) -> line.contains(LockFailures.SECRET))).singleElement()
				.asString()
				.contains("INFO");
			assertThat(output).doesNotContain("\tat ");
		});
	}

	@ParameterizedTest
	@CsvSource({ "/stopping, lock-not-acquired, true", "/unavailable, lock-store-unavailable, true",
			"/lost, lock-lost, false", "/stale, stale-fencing-token, true" })
	void otherFailuresAreProblemsWithoutInternals(String uri, String type, boolean mayRetry) {
		this.runner.withPropertyValues("distributed-lock.web.status=423").run((context) -> {
			assertThat(MockMvcTester.from(context).get().uri(uri)).hasStatus(HttpStatus.SERVICE_UNAVAILABLE)
				.satisfies((result) -> {
					assertThat(result.getResponse().getHeader(HttpHeaders.RETRY_AFTER))
						.isEqualTo(mayRetry ? "1" : null);
					assertThat(result.getResponse().getContentAsString()).contains("urn:holdfast:" + type, "stock:42")
						.doesNotContain(LockFailures.SECRET);
				});
		});
	}

	/** Spring MVC cannot write the problem then. */
	@Test
	void pathThatIsNoUriIsAnsweredWithTheSameStatus() {
		this.runner.run((context) -> {
			MockHttpServletResponse response = new MockHttpServletResponse();
			assertThat(context.getBean(LockExceptionResolver.class)
				.resolveException(new MockHttpServletRequest("GET", "//"), response, null, LockFailures.held()))
				.isNotNull();
			assertThat(response.getStatus()).isEqualTo(HttpStatus.SERVICE_UNAVAILABLE.value());
			assertThat(response.getHeaders(HttpHeaders.RETRY_AFTER)).containsExactly("1");
		});
	}

	@Test
	void statusAndRetryAreSettings() {
		this.runner.withPropertyValues("distributed-lock.web.status=409", "distributed-lock.web.retry-after=0s")
			.run((context) -> assertThat(MockMvcTester.from(context).get().uri("/held")).hasStatus(HttpStatus.CONFLICT)
				.doesNotContainHeader(HttpHeaders.RETRY_AFTER));
	}

	@ParameterizedTest
	@CsvSource({ "status, 200", "retry-after, -1s" })
	void settingOutOfRangeStopsTheStart(String setting, String value) {
		this.runner.withPropertyValues("distributed-lock.web.%s=%s".formatted(setting, value))
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("'distributed-lock.web.%s' is %s".formatted(setting, value)));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8 | true
			text/html,application/json                                      | false
			*/*                                                             | false
			""")
	void browserGetsTheErrorPageWithTheSameStatus(String accept, boolean page) {
		this.runner.run((context) -> assertThat(
				MockMvcTester.from(context).get().uri("/held").header(HttpHeaders.ACCEPT, accept))
			.hasStatus(HttpStatus.SERVICE_UNAVAILABLE)
			.hasHeader(HttpHeaders.RETRY_AFTER, "1")
			.satisfies((result) -> assertThat(result.getResponse().getContentAsString().isEmpty()).isEqualTo(page)));
	}

	@Test
	void statusIsSentWithoutAConverterForProblems() {
		new WebApplicationContextRunner().withBean(LockFailures.class)
			.withConfiguration(AutoConfigurations.of(LockWebMvcAutoConfiguration.class, WebMvcAutoConfiguration.class,
					DispatcherServletAutoConfiguration.class))
			.withBean(WithoutConverters.class)
			.run((context) -> assertThat(MockMvcTester.from(context).get().uri("/held"))
				.hasStatus(HttpStatus.SERVICE_UNAVAILABLE)
				.hasHeader(HttpHeaders.RETRY_AFTER, "1"));
	}

	@Test
	void timeToRetryIsRoundedUp() {
		this.runner.withPropertyValues("distributed-lock.web.retry-after=1001ms")
			.run((context) -> assertThat(MockMvcTester.from(context).get().uri("/held"))
				.hasHeader(HttpHeaders.RETRY_AFTER, "2"));
	}

	@Slow
	@Test
	void applicationsOwnHandlerWins(CapturedOutput output) {
		this.runner.withBean(OwnLockAnswer.class).run((context) -> {
			assertThat(MockMvcTester.from(context).get().uri("/held")).hasStatus(HttpStatus.LOCKED)
				.bodyText()
				.isEqualTo("busy");
			assertThat(output).doesNotContain(LockFailures.SECRET);
		});
	}

	@ParameterizedTest
	@CsvSource({ "/wrapped, 410", "/annotated, 402" })
	void statusOfTheApplicationsOwnExceptionWins(String uri, int status) {
		this.runner.run((context) -> assertThat(MockMvcTester.from(context).get().uri(uri)).hasStatus(status));
	}

	@Test
	void mistakeOfTheApplicationIsNoProblemOfTheClient() {
		this.runner.run((context) -> assertThat(MockMvcTester.from(context).get().uri("/misconfigured")).hasFailed());
	}

	@ParameterizedTest
	@ValueSource(strings = { "distributed-lock.enabled", "distributed-lock.web.enabled" })
	void propertyDisablesTheAnswer(String property) {
		this.runner.withPropertyValues(property + "=false").run((context) -> {
			assertThat(context).doesNotHaveBean(LockExceptionResolver.class);
			assertThat(MockMvcTester.from(context).get().uri("/held")).hasFailed();
		});
	}

	@Test
	void springMvcIsOptional() {
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(LockWebMvcAutoConfiguration.class))
			.withClassLoader(new FilteredClassLoader(DispatcherServlet.class))
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean("lockExceptionResolver"));
	}

	/** Only text can be written, as without a library for JSON. */
	static class WithoutConverters implements WebMvcConfigurer {

		@Override
		public void configureMessageConverters(HttpMessageConverters.ServerBuilder builder) {
			builder.configureMessageConvertersList((converters) -> {
				converters.clear();
				converters.add(new StringHttpMessageConverter());
			});
		}

	}

}
