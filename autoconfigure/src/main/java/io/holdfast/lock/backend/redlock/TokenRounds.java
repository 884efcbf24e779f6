package io.holdfast.lock.backend.redlock;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Writes a token to a majority of the nodes, for a grant to which they gave different
 * ones. Other readers may get tokens at the same moment. If their token is not smaller,
 * the next round tries a greater one with a random step, so that competing readers do not
 * proceed in lockstep.
 */
final class TokenRounds {

	private static final int MOST_ROUNDS = 5;

	private static final long LARGEST_STEP = 16;

	private final RedlockNodes nodes;

	private final QuorumAcquisition attempt;

	/**
	 * Creates the rounds of an attempt. Sends no request.
	 * @param attempt the attempt that a majority has granted
	 */
	TokenRounds(RedlockNodes nodes, QuorumAcquisition attempt) {
		this.nodes = nodes;
		this.attempt = attempt;
	}

	/**
	 * Writes a token, or a greater one.
	 * @return the last round, whether or not a majority has its token
	 */
	CompletionStage<Round> write(long token) {
		return write(token, 1);
	}

	private CompletionStage<Round> write(long token, int number) {
		return this.nodes.ask(this.attempt::decide,
				(node) -> this.nodes.vote(node, () -> !this.attempt.isOver(), RedlockScripts.AGREE,
						this.nodes.keys().of(this.attempt.claim.lock()), this.attempt.claim.owner().value(), token,
						RedlockTimes.IDLE_TOKEN_MILLIS))
			.thenCompose((votes) -> {
				long greatest = votes.greatestRejected();
				boolean again = votes.yes() < this.nodes.quorum() && greatest >= token && number < MOST_ROUNDS
						&& this.attempt.isInTime();
				return again ? write(greatest + 1 + this.nodes.clock().jitter(LARGEST_STEP - 1), number + 1)
						: CompletableFuture.completedStage(new Round(token, votes));
			});
	}

	/**
	 * A round.
	 *
	 * @param token the token that it has written
	 * @param votes the responses of the nodes
	 */
	record Round(long token, Votes votes) {
	}

}
