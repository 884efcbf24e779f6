package io.holdfast.lock.autoconfigure;

import java.util.regex.Pattern;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.annotation.Order;

import io.holdfast.lock.LockConfigurationException;

/**
 * Explains an invalid lock configuration without the nested bean creation exceptions
 * around it. The first sentence of the message is the description; the others contain the
 * remedy.
 *
 * <p>
 * Some settings are checked while Spring Boot binds them. The order is before the
 * analyzers of Spring Boot, one of which would name the class of the settings instead.
 */
@Order(0)
final class LockConfigurationFailureAnalyzer extends AbstractFailureAnalyzer<LockConfigurationException> {

	private static final Pattern NEXT_SENTENCE = Pattern.compile("(?<=[.?]) (?=\\p{Lu})");

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, LockConfigurationException cause) {
		String[] parts = NEXT_SENTENCE.split(String.valueOf(cause.getMessage()), 2);
		String action = (parts.length > 1) ? parts[1] : "Correct this configuration, then restart the application.";
		return new FailureAnalysis(parts[0], action, cause);
	}

}
