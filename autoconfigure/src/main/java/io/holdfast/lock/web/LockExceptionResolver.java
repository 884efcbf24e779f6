package io.holdfast.lock.web;

import java.lang.reflect.Method;
import java.util.List;
import java.util.function.Supplier;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

import org.springframework.core.Ordered;
import org.springframework.http.converter.HttpMessageConverter;
import org.springframework.util.ReflectionUtils;
import org.springframework.web.context.request.ServletWebRequest;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.mvc.method.annotation.ExceptionHandlerExceptionResolver;
import org.springframework.web.servlet.mvc.method.annotation.ServletInvocableHandlerMethod;

import io.holdfast.lock.LockException;

/**
 * Answers exceptions of locks with problems in Spring MVC. Comes after all other
 * resolvers, so the application's own {@code @ExceptionHandler} methods and
 * {@code @ResponseStatus} exceptions win, even those that have the exception of a lock as
 * their cause. Thread-safe.
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
		ProblemResolver present = resolver();
		return (present != null) ? present.resolveException(request, response, handler, ours) : null;
	}

	/** Returns {@code null} if nothing could write a problem. */
	private @Nullable ProblemResolver resolver() {
		ProblemResolver present = this.resolver;
		if (present == null) {
			List<HttpMessageConverter<?>> available = this.converters.get();
			present = available.isEmpty() ? null : new ProblemResolver(this.problems, available);
			this.resolver = present;
		}
		return present;
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
			Method respond = ReflectionUtils.findMethod(LockProblems.class, "respond", LockException.class);
			if (respond == null) {
				throw new IllegalStateException("LockProblems has no method 'respond'");
			}
			this.method = respond;
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
