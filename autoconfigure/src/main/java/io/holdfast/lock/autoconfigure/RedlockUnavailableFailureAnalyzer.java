package io.holdfast.lock.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Says what was tried and what to set when too few Redis nodes can be used at the start.
 */
final class RedlockUnavailableFailureAnalyzer extends AbstractFailureAnalyzer<RedlockUnavailableException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, RedlockUnavailableException cause) {
		String description = "Locks are to be kept on several Redis nodes, as 'distributed-lock.redlock.nodes' says, and that failed:%n%n    %s"
			.formatted(cause.getMessage());
		String action = """
				Do one of these:

				    - Start these nodes, or correct 'distributed-lock.redlock.nodes'.
				    - Set 'distributed-lock.fail-fast=false' to start without them; locks fail until a majority is there.
				    - Set 'distributed-lock.backend' to another store.""";
		return new FailureAnalysis(description, action, cause);
	}

}
