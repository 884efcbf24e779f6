package io.holdfast.lock.backend.redlock;

import java.util.Collection;
import java.util.Collections;

/**
 * What follows from the tokens that a majority of nodes gave to one owner.
 *
 * <p>
 * Any two majorities share a node, and a node's token grows with every grant. So a token
 * that a majority of nodes remembers lies below all of which a later majority is made,
 * and above all that an earlier one remembered. If no majority agrees by itself, one more
 * than the greatest is written to a majority before the lock counts as held.
 *
 * @param token the token
 * @param agreed whether a majority remembers it already
 */
record TokenAgreement(long token, boolean agreed) {

	static TokenAgreement of(Collection<Long> tokens, int quorum) {
		for (long token : tokens) {
			if (Collections.frequency(tokens, token) >= quorum) {
				return new TokenAgreement(token, true);
			}
		}
		return new TokenAgreement(Collections.max(tokens) + 1, false);
	}

}
