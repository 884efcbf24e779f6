package io.github.resilience4j.test;

import java.util.concurrent.CompletableFuture;

import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.annotation.Around;
import org.aspectj.lang.annotation.Aspect;

import org.springframework.core.Ordered;

/**
 * Stands for the aspect of {@code @TimeLimiter}: it has the same name and order, and
 * returns a future of its own. The time is over as soon as the work has started.
 */
@Aspect
public class TimeLimiterAspect implements Ordered {

	@Around("execution(java.util.concurrent.CompletableFuture sell())")
	public Object limit(ProceedingJoinPoint call) throws Throwable {
		call.proceed();
		return CompletableFuture.failedFuture(new IllegalStateException("limit"));
	}

	@Override
	public int getOrder() {
		return Ordered.LOWEST_PRECEDENCE - 2;
	}

}
