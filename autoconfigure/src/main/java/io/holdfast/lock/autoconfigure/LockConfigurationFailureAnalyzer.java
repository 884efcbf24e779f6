package io.holdfast.lock.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

import io.holdfast.lock.LockConfigurationException;

/**
 * Explains an invalid lock configuration without the nested bean creation exceptions
 * around it.
 */
final class LockConfigurationFailureAnalyzer extends AbstractFailureAnalyzer<LockConfigurationException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, LockConfigurationException cause) {
		return new FailureAnalysis(cause.getMessage(), "Correct this configuration, then restart the application.",
				cause);
	}

}
