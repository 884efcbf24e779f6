package io.holdfast.lock.web;

import java.util.List;

import reactor.core.publisher.Mono;

import org.springframework.core.Ordered;
import org.springframework.core.ResolvableType;
import org.springframework.http.InvalidMediaTypeException;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.http.codec.HttpMessageWriter;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.reactive.result.view.ViewResolver;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebExceptionHandler;

import io.holdfast.lock.LockException;

/**
 * Answers exceptions of locks with problems in Spring WebFlux, or with the error page for
 * the same status if a browser asks. The application's own {@code @ExceptionHandler}
 * methods come before it, and Spring Boot's error page after it. Thread-safe.
 */
public final class LockWebExceptionHandler implements WebExceptionHandler, Ordered {

	/** Just before Spring Boot's handler, whose order is -1. */
	private static final int ORDER = -2;

	private static final ResolvableType PROBLEM = ResolvableType.forClass(ProblemDetail.class);

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
		ResponseEntity<ProblemDetail> answer = this.problems.respond(ours);
		if (prefersPage(exchange)) {
			exchange.getResponse().getHeaders().addAll(answer.getHeaders());
			return Mono.error(new ResponseStatusException(answer.getStatusCode(), null, ours));
		}
		return problem(exchange, answer).flatMap((built) -> built.writeTo(exchange, this.context));
	}

	private static boolean prefersPage(ServerWebExchange exchange) {
		try {
			return LockProblems.prefersPage(exchange.getRequest().getHeaders().getAccept());
		}
		catch (InvalidMediaTypeException ex) {
			return false;
		}
	}

	/** Creates the response, which has no body if nothing can write a problem. */
	private Mono<ServerResponse> problem(ServerWebExchange exchange, ResponseEntity<ProblemDetail> answer) {
		ServerResponse.BodyBuilder response = ServerResponse.status(answer.getStatusCode())
			.headers((headers) -> headers.addAll(answer.getHeaders()));
		ProblemDetail problem = answer.getBody();
		if (problem == null || !isWritable()) {
			return response.build();
		}
		problem.setInstance(LockProblems.instance(exchange.getRequest().getPath().value()));
		return response.contentType(MediaType.APPLICATION_PROBLEM_JSON).bodyValue(problem);
	}

	private boolean isWritable() {
		return this.context.messageWriters()
			.stream()
			.anyMatch((writer) -> writer.canWrite(PROBLEM, MediaType.APPLICATION_PROBLEM_JSON));
	}

}
