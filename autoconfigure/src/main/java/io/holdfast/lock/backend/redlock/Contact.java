package io.holdfast.lock.backend.redlock;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockConfigurationException;

/**
 * The first contact with all nodes.
 */
final class Contact {

	private static final Log logger = LogFactory.getLog(Contact.class);

	private static final Duration PATIENCE = Duration.ofSeconds(3);

	private final Nodes nodes;

	private final RedlockErrors errors;

	Contact(Nodes nodes, RedlockErrors errors) {
		this.nodes = nodes;
		this.errors = errors;
	}

	void make() {
		Tally tally = new Poll<Tally>(this.nodes.count(), this.nodes.clock(),
				(present) -> (present.pending() == 0) ? present : null, (answer) -> {
				})
			.ask(this.nodes.all(), PATIENCE, Contact::meet)
			.join();
		for (NodeAnswer answer : tally.answers()) {
			if (misconfiguration(answer.failure()) instanceof LockConfigurationException wrong) {
				throw wrong;
			}
		}
		if (tally.yes() < this.nodes.quorum()) {
			throw this.errors.unreachable(tally, PATIENCE);
		}
		if (tally.yes() < this.nodes.count()) {
			logger.warn(this.errors.unreachable(tally, PATIENCE).getMessage());
		}
	}

	private static CompletionStage<List<Object>> meet(Node node) {
		return node.connect().thenApply((runId) -> List.of(1L, runId));
	}

	private static @Nullable Throwable misconfiguration(@Nullable Throwable failure) {
		return (failure instanceof CompletionException) ? failure.getCause() : failure;
	}

}
