package io.holdfast.lock.test.contract;

/**
 * What the harness of a store can do to it. Each method belongs to an {@link Ability} and
 * must be implemented unless the store lacks that one; none is called otherwise.
 */
public interface StoreFaults {

	/** A harness that can do nothing. */
	StoreFaults NONE = new StoreFaults() {
	};

	/**
	 * Arrange that the store carries out the next acquisition of the first client and
	 * that its reply gets lost. See {@link Ability#LOST_REPLY}.
	 * @throws Exception if that failed
	 */
	default void loseNextReply() throws Exception {
		throw missing(Ability.LOST_REPLY);
	}

	/**
	 * Break all present connections of both clients. New ones must be possible at once.
	 * See {@link Ability#CUT_CONNECTION}.
	 * @throws Exception if that failed
	 */
	default void cutConnections() throws Exception {
		throw missing(Ability.CUT_CONNECTION);
	}

	/**
	 * Stop the store, as hard as it may happen in production, start it again and return
	 * when it can be reached. Whether it remembers anything is its own affair. See
	 * {@link Ability#RESTART}.
	 * @throws Exception if that failed
	 */
	default void restart() throws Exception {
		throw missing(Ability.RESTART);
	}

	/**
	 * Make the store silent, without closing a connection. See {@link Ability#PAUSE}.
	 * @throws Exception if that failed
	 */
	default void pause() throws Exception {
		throw missing(Ability.PAUSE);
	}

	/**
	 * End the silence. Called after every {@link #pause()}.
	 * @throws Exception if that failed
	 */
	default void resume() throws Exception {
		throw missing(Ability.PAUSE);
	}

	/**
	 * End the session of the first client at the store. See
	 * {@link Ability#KILLED_SESSION}.
	 * @throws Exception if that failed
	 */
	default void killSession() throws Exception {
		throw missing(Ability.KILLED_SESSION);
	}

	private static UnsupportedOperationException missing(Ability ability) {
		return new UnsupportedOperationException(
				"The harness has no %s. Implement it, or list it in lacks() with the reason.".formatted(ability));
	}

}
