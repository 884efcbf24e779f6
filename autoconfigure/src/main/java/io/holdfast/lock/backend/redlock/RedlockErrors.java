package io.holdfast.lock.backend.redlock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockName;
import io.holdfast.lock.backend.redis.RedisNode;
import io.holdfast.lock.support.DurationText;
import io.holdfast.lock.support.Failures;

/**
 * Creates exceptions that explain why there was no majority.
 */
final class RedlockErrors {

	private static final String TIMEOUT_OF_VOTES = "'distributed-lock.redlock.node-timeout' must be far above a round trip.";

	private static final String TIMEOUTS_OF_CONNECTING = "They must accept a connection within 'distributed-lock.redlock.connection-timeout' and respond within 'distributed-lock.response-timeout'.";

	private final RedlockNodes nodes;

	private final RedlockLockOptions options;

	RedlockErrors(RedlockNodes nodes, RedlockLockOptions options) {
		this.nodes = nodes;
		this.options = options;
	}

	/** Whether so many nodes failed definitely that the others are no majority. */
	boolean isDefinite(Votes votes) {
		return definite(votes) > this.nodes.tolerated();
	}

	private static int definite(Votes votes) {
		return votes.count((answer) -> answer.failure() != null && RedisNode.isDefinite(answer.failure()));
	}

	/**
	 * Creates the exception for a request that too few nodes answered, or on which too
	 * few may vote.
	 */
	LockBackendException noMajority(String what, LockName lock, Votes votes) {
		return new LockBackendException("Lock '%s' %s: %s of %s Redis nodes must agree (%s). %s".formatted(lock, what,
				this.nodes.quorum(), this.nodes.count(), responses(votes, this.options.nodeTimeout()),
				remedy(votes, TIMEOUT_OF_VOTES)), firstFailure(votes));
	}

	/** Creates the exception for a lease that several calls have ended together. */
	LockBackendException endedByOthersToo(LockName lock, Votes votes) {
		return new LockBackendException(
				"Lock '%s' could not be released by force by this call alone: it has ended the lease on %s of %s Redis nodes, and the holder or another call has ended it on the others at this moment. No node has the lease any more."
					.formatted(lock, votes.yes(), this.nodes.count()));
	}

	LockBackendException tooSlow(LockName lock, Duration lease, long nanos) {
		return new LockBackendException(
				"Lock '%s' does not count as held: a majority of the Redis nodes granted it, but that took %s of its lease of %s. Increase 'leaseTime', or check for pauses of this process or the network."
					.formatted(lock, DurationText.ofNanos(nanos), DurationText.of(lease)));
	}

	/**
	 * Creates the exception for a failed first connection to some nodes.
	 */
	LockBackendException unreachable(Votes votes, Duration waited) {
		return new LockBackendException("%s of %s Redis nodes can be used, and %s are required (%s). %s".formatted(
				votes.yes(), this.nodes.count(), this.nodes.quorum(), responses(votes, waited),
				remedy(votes, TIMEOUTS_OF_CONNECTING)), firstFailure(votes));
	}

	private String responses(Votes votes, Duration waited) {
		return this.nodes.all()
			.stream()
			.map((node) -> node + " " + response(node, votes, waited))
			.collect(Collectors.joining(", "));
	}

	private String response(RedlockNode node, Votes votes, Duration waited) {
		for (NodeResponse answer : votes.those((candidate) -> candidate.node() == node)) {
			if (answer.failure() instanceof SameServerException same) {
				return "is the same Redis as " + same.other();
			}
			if (answer.failure() != null) {
				return "failed with '" + RedisNode.describe(answer.failure()) + "'";
			}
			if (answer.isNoVote()) {
				Duration rest = node.quarantine().remaining(this.nodes.quarantine());
				return "may not vote" + ((rest != null && !rest.isNegative())
						? " for " + Math.max(1, rest.toSeconds()) + "s more" : " yet");
			}
			return answer.isYes() ? "is fine" : "rejected the request";
		}
		if (votes.pending() > 0) {
			return "had not responded yet";
		}
		return "did not respond within " + DurationText.of(waited);
	}

	/**
	 * Returns the remedy for missing votes.
	 * @param timeouts names the timeouts that the nodes may have exceeded
	 */
	private String remedy(Votes votes, String timeouts) {
		if (isDefinite(votes)) {
			return String.join(" ", definiteRemedies(votes));
		}
		if (votes.count((answer) -> answer.failure() instanceof SameServerException) > 0) {
			return "A server votes only once. List each server once, and check DNS and proxies.";
		}
		if (votes.noVote() > this.nodes.tolerated()) {
			return "Nodes without a vote are new, have restarted or were flushed, and earlier locks may still be held. Wait, or admit them as described in the Redlock how-to.";
		}
		return remedyOfNodes(votes, timeouts);
	}

	/** Returns the remedies for nodes that failed one by one. */
	private String remedyOfNodes(Votes votes, String timeouts) {
		int definite = definite(votes);
		int rejected = votes
			.count((answer) -> answer.failure() != null && Failures.isCertificateRejected(answer.failure()));
		int answered = votes.count((answer) -> answer.failure() == null);
		List<String> temporary = temporaryRemedies(votes);
		List<String> remedies = definiteRemedies(votes);
		temporary.stream().distinct().forEach(remedies::add);
		if (rejected > 0) {
			remedies.add(
					"Renew a certificate that has expired, trust its issuer in the bundle of 'distributed-lock.redlock.ssl.bundle', and connect to a name in the certificate.");
		}
		if (temporary.size() <= this.nodes.tolerated()
				&& (remedies.isEmpty() || definite + rejected + temporary.size() + answered < this.nodes.count())) {
			remedies.add("Check that the nodes are running. " + timeouts);
		}
		return String.join(" ", remedies);
	}

	/** Returns the remedies for nodes that failed definitely, each of them once. */
	private List<String> definiteRemedies(Votes votes) {
		return votes.those((answer) -> answer.failure() != null && RedisNode.isDefinite(answer.failure()))
			.stream()
			.map((answer) -> RedisNode.remedyOfState(Objects.requireNonNull(answer.failure()),
					this.options.namespace()))
			.map((remedy) -> (remedy != null) ? remedy : loginRemedy())
			.distinct()
			.collect(Collectors.toCollection(ArrayList::new));
	}

	/** Returns the remedy of each node that responds with an error for a while. */
	private static List<String> temporaryRemedies(Votes votes) {
		return votes.those((answer) -> answer.failure() != null && !RedisNode.isDefinite(answer.failure()))
			.stream()
			.map((answer) -> RedisNode.temporaryRemedy(Objects.requireNonNull(answer.failure())))
			.filter(Objects::nonNull)
			.toList();
	}

	private String loginRemedy() {
		return "Check the user, password and permissions on these nodes: ~%1$s:* &%1$s:* +@connection +eval +evalsha +info +time +get +set +del +pexpire +pexpireat +pttl +hget +hmget +hset +hdel +zadd +zrem +zrange +zrangebyscore +zremrangebyscore +publish +subscribe +unsubscribe."
			.formatted(this.options.namespace());
	}

	private static @Nullable Throwable firstFailure(Votes votes) {
		return votes.those((answer) -> answer.failure() != null)
			.stream()
			.map(NodeResponse::failure)
			.findFirst()
			.orElse(null);
	}

}
