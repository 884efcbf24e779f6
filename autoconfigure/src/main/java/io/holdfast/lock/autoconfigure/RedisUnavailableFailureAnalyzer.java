package io.holdfast.lock.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Says what was tried and what to set when Redis cannot be used at the start.
 */
final class RedisUnavailableFailureAnalyzer extends AbstractFailureAnalyzer<RedisUnavailableException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, RedisUnavailableException cause) {
		String description = "Locks are to be kept in Redis, as %s says, and that failed:%n%n    %s"
			.formatted(cause.source(), cause.getMessage());
		String action = """
				Do one of these:

				    - Start that Redis, or correct %s.
				    - Set 'distributed-lock.redis.address' to the Redis that is to keep locks.
				    - Set 'distributed-lock.fail-fast=false' to start without it; locks fail until it is there.
				    - Set 'distributed-lock.backend=local', and nothing of Redis, if one instance is all there is."""
			.formatted(cause.source());
		return new FailureAnalysis(description, action, cause);
	}

}
