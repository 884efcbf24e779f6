package io.holdfast.lock.autoconfigure;

import java.net.URI;
import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.http.codec.autoconfigure.CodecsAutoConfiguration;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.webflux.autoconfigure.HttpHandlerAutoConfiguration;
import org.springframework.boot.webflux.autoconfigure.WebFluxAutoConfiguration;
import org.springframework.boot.webflux.autoconfigure.error.ErrorWebFluxAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.web.server.MockServerWebExchange;
import org.springframework.test.web.reactive.server.WebTestClient;
import org.springframework.web.reactive.DispatcherHandler;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.web.LockProblems;
import io.holdfast.lock.web.LockWebExceptionHandler;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link LockWebFluxAutoConfiguration} and the answer of Spring WebFlux.
 */
@ExtendWith(OutputCaptureExtension.class)
class LockWebFluxAutoConfigurationTests {

	private final ReactiveWebApplicationContextRunner runner = new ReactiveWebApplicationContextRunner()
		.withBean(LockFailures.class)
		.withConfiguration(AutoConfigurations.of(LockWebFluxAutoConfiguration.class, JacksonAutoConfiguration.class,
				CodecsAutoConfiguration.class, WebFluxAutoConfiguration.class, HttpHandlerAutoConfiguration.class,
				ErrorWebFluxAutoConfiguration.class));

	private static WebTestClient.ResponseSpec get(ApplicationContext context, String uri) {
		return WebTestClient.bindToApplicationContext(context).build().get().uri(uri).exchange();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/held", "/async" })
	void contentionIsAProblemThatNamesLockAndWait(String uri, CapturedOutput output) {
		this.runner.run((context) -> {
			get(context, uri).expectStatus()
				.isEqualTo(HttpStatus.SERVICE_UNAVAILABLE)
				.expectHeader()
				.contentType(MediaType.APPLICATION_PROBLEM_JSON)
				.expectHeader()
				.valueEquals(HttpHeaders.RETRY_AFTER, "1")
				.expectBody()
				.json("""
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
	@ValueSource(strings = { "/stopping", "/unavailable", "/lost", "/stale" })
	void otherFailuresAreProblemsWithoutInternals(String uri) {
		this.runner.run((context) -> assertThat(get(context, uri).expectStatus()
			.isEqualTo(HttpStatus.SERVICE_UNAVAILABLE)
			.expectBody(String.class)
			.returnResult()
			.getResponseBody()).contains("urn:holdfast:", "stock:42").doesNotContain(LockFailures.SECRET));
	}

	@Test
	void statusAndRetryAreSettings() {
		this.runner.withPropertyValues("distributed-lock.web.status=409", "distributed-lock.web.retry-after=0s")
			.run((context) -> get(context, "/held").expectStatus()
				.isEqualTo(HttpStatus.CONFLICT)
				.expectHeader()
				.doesNotExist(HttpHeaders.RETRY_AFTER));
	}

	@Test
	void browserGetsTheErrorPageWithTheSameStatus() {
		this.runner.run((context) -> WebTestClient.bindToApplicationContext(context)
			.build()
			.get()
			.uri("/held")
			.header(HttpHeaders.ACCEPT, "text/html,application/xhtml+xml,*/*;q=0.8")
			.exchange()
			.expectStatus()
			.isEqualTo(HttpStatus.SERVICE_UNAVAILABLE)
			.expectHeader()
			.valueEquals(HttpHeaders.RETRY_AFTER, "1")
			.expectHeader()
			.contentTypeCompatibleWith(MediaType.TEXT_HTML));
	}

	@Test
	void statusIsSentWithoutAWriterForProblems() {
		LockWebExceptionHandler handler = new LockWebExceptionHandler(new LockProblems(503, Duration.ofSeconds(1)),
				List.of());
		MockServerWebExchange exchange = MockServerWebExchange.from(MockServerHttpRequest.get("/held"));
		handler.handle(exchange, new LockBackendException("away")).block(Duration.ofMinutes(1));
		assertThat(exchange.getResponse().getStatusCode()).isEqualTo(HttpStatus.SERVICE_UNAVAILABLE);
		assertThat(exchange.getResponse().getHeaders().getFirst(HttpHeaders.RETRY_AFTER)).isEqualTo("1");
	}

	/** A path of a request need not be a URI. */
	@Test
	void problemOfAPathThatIsNoUriNamesNoInstance() {
		this.runner.run((context) -> {
			MockServerWebExchange exchange = MockServerWebExchange
				.from(MockServerHttpRequest.method(HttpMethod.GET, URI.create("http://localhost//")));
			context.getBean(LockWebExceptionHandler.class)
				.handle(exchange, LockFailures.held())
				.block(Duration.ofMinutes(1));
			assertThat(exchange.getResponse().getStatusCode()).isEqualTo(HttpStatus.SERVICE_UNAVAILABLE);
			assertThat(exchange.getResponse().getBodyAsString().block(Duration.ofMinutes(1)))
				.contains("urn:holdfast:lock-not-acquired")
				.doesNotContain("instance");
		});
	}

	@Slow
	@Test
	void applicationsOwnHandlerWins() {
		this.runner.withBean(OwnLockAnswer.class)
			.run((context) -> get(context, "/held").expectStatus()
				.isEqualTo(HttpStatus.LOCKED)
				.expectBody(String.class)
				.isEqualTo("busy"));
	}

	@ParameterizedTest
	@CsvSource({ "/wrapped, 410", "/annotated, 402", "/misconfigured, 500" })
	void statusOfTheApplicationsOwnExceptionWins(String uri, int status) {
		this.runner.run((context) -> get(context, uri).expectStatus().isEqualTo(status));
	}

	@Test
	void exhaustedRetriesOfReactorHideTheFailureUnlessTheyThrowIt() {
		this.runner.withBean(RepeatedCalls.class).run((context) -> {
			get(context, "/exhausted").expectStatus().isEqualTo(HttpStatus.INTERNAL_SERVER_ERROR);
			WebTestClient.bindToApplicationContext(context)
				.build()
				.post()
				.uri("/products/42/orders?quantity=1")
				.exchange()
				.expectStatus()
				.isEqualTo(HttpStatus.SERVICE_UNAVAILABLE)
				.expectHeader()
				.valueEquals(HttpHeaders.RETRY_AFTER, "1");
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "distributed-lock.enabled", "distributed-lock.web.enabled" })
	void propertyDisablesTheAnswer(String property) {
		this.runner.withPropertyValues(property + "=false").run((context) -> {
			assertThat(context).doesNotHaveBean(LockWebExceptionHandler.class);
			get(context, "/held").expectStatus().isEqualTo(HttpStatus.INTERNAL_SERVER_ERROR);
		});
	}

	@Test
	void springWebFluxIsOptional() {
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(LockWebFluxAutoConfiguration.class))
			.withClassLoader(new FilteredClassLoader(DispatcherHandler.class))
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean("lockWebExceptionHandler"));
	}

}
