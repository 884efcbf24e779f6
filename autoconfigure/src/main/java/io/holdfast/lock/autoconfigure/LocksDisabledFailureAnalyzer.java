package io.holdfast.lock.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;

import io.holdfast.lock.LockOperations;

/**
 * Explains that a bean of Holdfast is missing because locks are disabled. Precedes the
 * analyzer of Spring Boot, which suggests to define the bean.
 */
final class LocksDisabledFailureAnalyzer extends AbstractFailureAnalyzer<NoSuchBeanDefinitionException>
		implements Ordered {

	private static final String PACKAGE = LockOperations.class.getPackageName() + ".";

	private final Environment environment;

	LocksDisabledFailureAnalyzer(Environment environment) {
		this.environment = environment;
	}

	@Override
	protected @Nullable FailureAnalysis analyze(Throwable rootFailure, NoSuchBeanDefinitionException cause) {
		Class<?> type = (cause.getResolvableType() != null) ? cause.getResolvableType().toClass() : Object.class;
		if (!type.getName().startsWith(PACKAGE)
				|| this.environment.getProperty("distributed-lock.enabled", Boolean.class, true)) {
			return null;
		}
		return new FailureAnalysis(
				"A bean of type '%s' is required, but does not exist because 'distributed-lock.enabled' is false."
					.formatted(type.getName()),
				"Remove 'distributed-lock.enabled=false', and set 'distributed-lock.backend=local' to lock within this JVM only. Or inject an ObjectProvider<%s>, and decide what the application does without locks."
					.formatted(type.getSimpleName()),
				cause);
	}

	@Override
	public int getOrder() {
		return 0;
	}

}
