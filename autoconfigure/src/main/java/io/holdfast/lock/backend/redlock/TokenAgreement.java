package io.holdfast.lock.backend.redlock;

import java.util.Collection;
import java.util.Collections;

/**
 * The token that follows from those that a majority of nodes gave to one owner.
 *
 * <p>
 * Any two majorities share a node, and a node's token grows with every grant. A token
 * that a majority remembers is therefore greater than those of earlier majorities and
 * smaller than those of later ones. If no majority agrees, the greatest token plus one is
 * written to a majority before the lock counts as held.
 *
 * @param token the token
 * @param agreed whether a majority already remembers it
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
