package io.holdfast.lock.web;

import java.io.IOException;
import java.lang.reflect.Method;
import java.util.Collections;
import java.util.List;
import java.util.function.Supplier;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

import org.springframework.core.Ordered;
import org.springframework.http.HttpHeaders;
import org.springframework.http.InvalidMediaTypeException;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.http.converter.HttpMessageConverter;
import org.springframework.util.ClassUtils;
import org.springframework.web.context.request.ServletWebRequest;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.mvc.method.annotation.ExceptionHandlerExceptionResolver;
import org.springframework.web.servlet.mvc.method.annotation.ServletInvocableHandlerMethod;

import io.holdfast.lock.LockException;

/**
 * Answers exceptions of locks with problems in Spring MVC, or with the error page for the
 * same status if a browser asks. Comes after all other resolvers, so the application's
 * own {@code @ExceptionHandler} methods and {@code @ResponseStatus} exceptions win, even
 * those that have the exception of a lock as their cause. Thread-safe.
 */
public final class LockExceptionResolver implements HandlerExceptionResolver, Ordered {

	private final LockProblems problems;

	private final Supplier<List<HttpMessageConverter<?>>> converters;

	private volatile @Nullable ProblemResolver resolver;

	/**
	 * Creates the resolver.
	 * @param problems creates the responses
	 * @param converters returns the converters that write the responses; called at the
	 * first failure
	 */
	public LockExceptionResolver(LockProblems problems, Supplier<List<HttpMessageConverter<?>>> converters) {
		this.problems = problems;
		this.converters = converters;
	}

	@Override
	public int getOrder() {
		return LOWEST_PRECEDENCE;
	}

	@Override
	public @Nullable ModelAndView resolveException(HttpServletRequest request, HttpServletResponse response,
			@Nullable Object handler, Exception failure) {
		LockException ours = LockProblems.find(failure);
		if (ours == null) {
			return null;
		}
		// Spring adds the path to a problem as a URI
		boolean writable = LockProblems.instance(request.getRequestURI()) != null;
		ProblemResolver present = (writable && !prefersPage(request)) ? resolver() : null;
		return (present != null) ? present.resolveException(request, response, handler, ours) : page(response, ours);
	}

	private static boolean prefersPage(HttpServletRequest request) {
		try {
			return LockProblems
				.prefersPage(MediaType.parseMediaTypes(Collections.list(request.getHeaders(HttpHeaders.ACCEPT))));
		}
		catch (InvalidMediaTypeException ex) {
			return false;
		}
	}

	/** Returns {@code null} if nothing could write a problem. */
	private @Nullable ProblemResolver resolver() {
		ProblemResolver present = this.resolver;
		if (present == null && this.converters.get()
			.stream()
			.anyMatch((converter) -> converter.canWrite(ProblemDetail.class, MediaType.APPLICATION_PROBLEM_JSON))) {
			present = new ProblemResolver(this.problems, this.converters.get());
			this.resolver = present;
		}
		return present;
	}

	/** Makes the servlet container show the error page for the status. */
	private @Nullable ModelAndView page(HttpServletResponse response, LockException failure) {
		ResponseEntity<ProblemDetail> answer = this.problems.respond(failure);
		answer.getHeaders().forEach((name, values) -> values.forEach((value) -> response.addHeader(name, value)));
		try {
			response.sendError(answer.getStatusCode().value());
			return new ModelAndView();
		}
		catch (IOException | IllegalStateException ex) {
			return null;
		}
	}

	/**
	 * Invokes one method, as if it were an {@code @ExceptionHandler}, for its content
	 * negotiation.
	 */
	private static final class ProblemResolver extends ExceptionHandlerExceptionResolver {

		private final LockProblems problems;

		private final Method method;

		ProblemResolver(LockProblems problems, List<HttpMessageConverter<?>> converters) {
			this.problems = problems;
			this.method = ClassUtils.getMethod(LockProblems.class, "respond", LockException.class);
			setMessageConverters(converters);
			afterPropertiesSet();
		}

		@Override
		protected boolean shouldApplyTo(HttpServletRequest request, @Nullable Object handler) {
			return true;
		}

		@Override
		protected ServletInvocableHandlerMethod getExceptionHandlerMethod(@Nullable HandlerMethod handlerMethod,
				Exception exception, ServletWebRequest webRequest) {
			return new ServletInvocableHandlerMethod(this.problems, this.method);
		}

	}

}
