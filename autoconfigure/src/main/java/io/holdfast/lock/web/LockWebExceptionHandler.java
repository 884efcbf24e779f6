package io.holdfast.lock.web;

import java.net.URI;
import java.util.List;

import reactor.core.publisher.Mono;

import org.springframework.core.Ordered;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.http.codec.HttpMessageWriter;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.reactive.result.view.ViewResolver;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebExceptionHandler;

import io.holdfast.lock.LockException;

/**
 * Answers exceptions of locks with problems in Spring WebFlux. The application's own
 * {@code @ExceptionHandler} methods come before it, and Spring Boot's error page after
 * it. Thread-safe.
 */
public final class LockWebExceptionHandler implements WebExceptionHandler, Ordered {

	/** Just before Spring Boot's handler, whose order is -1. */
	private static final int ORDER = -2;

	private final LockProblems problems;

	private final ServerResponse.Context context;

	/**
	 * Creates the handler.
	 * @param problems creates the responses
	 * @param writers write the responses
	 */
	public LockWebExceptionHandler(LockProblems problems, List<HttpMessageWriter<?>> writers) {
		this.problems = problems;
		this.context = new ServerResponse.Context() {

			@Override
			public List<HttpMessageWriter<?>> messageWriters() {
				return writers;
			}

			@Override
			public List<ViewResolver> viewResolvers() {
				return List.of();
			}

		};
	}

	@Override
	public int getOrder() {
		return ORDER;
	}

	@Override
	public Mono<Void> handle(ServerWebExchange exchange, Throwable failure) {
		LockException ours = LockProblems.find(failure);
		if (ours == null || exchange.getResponse().isCommitted()) {
			return Mono.error(failure);
		}
		ResponseEntity<ProblemDetail> response = this.problems.respond(ours);
		ProblemDetail problem = response.getBody();
		if (problem == null) {
			return Mono.error(failure);
		}
		problem.setInstance(URI.create(exchange.getRequest().getPath().value()));
		return ServerResponse.status(response.getStatusCode())
			.headers((headers) -> headers.addAll(response.getHeaders()))
			.contentType(MediaType.APPLICATION_PROBLEM_JSON)
			.bodyValue(problem)
			.flatMap((built) -> built.writeTo(exchange, this.context));
	}

}
