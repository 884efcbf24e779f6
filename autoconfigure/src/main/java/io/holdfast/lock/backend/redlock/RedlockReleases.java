package io.holdfast.lock.backend.redlock;

import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.ReleaseResult;

/**
 * Releases, withdraws and revokes claims. Thread-safe.
 */
final class RedlockReleases {

	private final RedlockNodes nodes;

	private final RedlockErrors errors;

	private final NotifiedTokens notified;

	/** Attempts that at least one node has not answered yet. */
	private final AttemptsUnderWay underWay;

	RedlockReleases(RedlockNodes nodes, RedlockErrors errors, NotifiedTokens notified, AttemptsUnderWay underWay) {
		this.nodes = nodes;
		this.errors = errors;
		this.notified = notified;
		this.underWay = underWay;
	}

	CompletableFuture<ReleaseResult> release(Claim claim) {
		return send(claim, this::confirmed).thenApply((votes) -> {
			if (isReleased(votes)) {
				return new ReleaseResult.Released();
			}
			if (isNotHeld(votes)) {
				return new ReleaseResult.NotHeld();
			}
			LockBackendException cause = this.errors.noMajority("could not be released", claim.lock(), votes);
			if (this.errors.isDefinite(votes)) {
				throw cause;
			}
			return new ReleaseResult.Indeterminate(cause);
		});
	}

	CompletableFuture<Void> withdraw(Claim claim) {
		return send(claim, this::confirmed).thenAccept((votes) -> {
			if (votes.yes() + votes.no() < this.nodes.quorum()) {
				throw this.errors.noMajority("could not be withdrawn", claim.lock(), votes);
			}
		});
	}

	/**
	 * Returns whether this call has ended the lease. Waits for all nodes, so that a later
	 * call finds nothing. Several calls at the same moment may each end the lease on a
	 * minority of the nodes. If they all denied it, no one would report the release. A
	 * node that does not confirm it may keep the holder's part, but never releases it
	 * later, when the operator has been told that the release failed.
	 */
	CompletableFuture<Boolean> revoke(Claim claim) {
		return this.nodes.ask(Votes::ifComplete, (node) -> this.nodes.revoke(node, claim)).thenApply((votes) -> {
			if (isReleased(votes)) {
				return true;
			}
			if (votes.yes() == 0 && isNotHeld(votes)) {
				return false;
			}
			throw (votes.yes() + votes.no() == this.nodes.count()) ? this.errors.endedByOthersToo(claim.lock(), votes)
					: this.errors.noMajority("could not be released by force", claim.lock(), votes);
		});
	}

	/**
	 * Releases the claim on every node, including those that rejected it or did not
	 * answer. If an attempt is under way at a node, the release follows its response.
	 */
	private CompletableFuture<Votes> send(Claim claim, Function<Votes, @Nullable Votes> decision) {
		this.notified.remove(claim.owner());
		this.nodes.notifications().forgetAll(claim.owner());
		QuorumAcquisition attempt = this.underWay.of(claim.owner());
		if (attempt == null) {
			return this.nodes.ask(decision, (node) -> this.nodes.release(node, claim));
		}
		attempt.end();
		return this.nodes.ask(decision, (node) -> node.releaseAfter(attempt.response(node), claim.lock(),
				() -> this.nodes.release(node, claim)));
	}

	private @Nullable Votes confirmed(Votes votes) {
		return (isReleased(votes) || isNotHeld(votes)) ? votes : votes.ifComplete();
	}

	private boolean isReleased(Votes votes) {
		return votes.yes() >= this.nodes.quorum();
	}

	private boolean isNotHeld(Votes votes) {
		return votes.no() > this.nodes.tolerated();
	}

}
