package io.holdfast.lock.autoconfigure;

import java.util.stream.Collectors;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Explains which store could not be used at startup, and lists the remedies.
 */
final class StoreUnavailableFailureAnalyzer extends AbstractFailureAnalyzer<StoreUnavailableException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, StoreUnavailableException cause) {
		String action = cause.remedies()
			.stream()
			.map((remedy) -> "%n    - %s".formatted(remedy))
			.collect(Collectors.joining("", "Consider one of the following:%n".formatted(), ""));
		return new FailureAnalysis(cause.description(), action, cause);
	}

}
