package io.holdfast.lock.autoconfigure;

import java.util.regex.Pattern;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

import io.holdfast.lock.LockConfigurationException;

/**
 * Explains an invalid lock configuration without the nested bean creation exceptions
 * around it. The first sentence of the message is the description; the others contain the
 * remedy.
 */
final class LockConfigurationFailureAnalyzer extends AbstractFailureAnalyzer<LockConfigurationException> {

	private static final Pattern NEXT_SENTENCE = Pattern.compile("(?<=[.?]) (?=\\p{Lu})");

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, LockConfigurationException cause) {
		String[] parts = NEXT_SENTENCE.split(String.valueOf(cause.getMessage()), 2);
		String action = (parts.length > 1) ? parts[1] : "Correct this configuration, then restart the application.";
		return new FailureAnalysis(parts[0], action, cause);
	}

}
