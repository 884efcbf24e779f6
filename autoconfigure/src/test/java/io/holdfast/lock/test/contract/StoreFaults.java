package io.holdfast.lock.test.contract;

/**
 * Faults that a test harness can cause in a store. Each method belongs to an
 * {@link Ability} and must be implemented unless the store lacks this ability. The
 * contract does not call a method whose ability is lacking.
 */
public interface StoreFaults {

	/** A harness that supports no faults. */
	StoreFaults NONE = new StoreFaults() {
	};

	/**
	 * Drops the reply to the next acquisition of the first client, after the store has
	 * processed that acquisition. See {@link Ability#LOST_REPLY}.
	 * @throws Exception if the fault cannot be caused
	 */
	default void loseNextReply() throws Exception {
		throw missing(Ability.LOST_REPLY);
	}

	/**
	 * Breaks all existing connections of both clients. New connections must be possible
	 * immediately. See {@link Ability#CUT_CONNECTION}.
	 * @throws Exception if the fault cannot be caused
	 */
	default void cutConnections() throws Exception {
		throw missing(Ability.CUT_CONNECTION);
	}

	/**
	 * Stops the store as abruptly as may happen in production, restarts it, and returns
	 * when it is reachable. The store may or may not keep its data. See
	 * {@link Ability#RESTART}.
	 * @throws Exception if the fault cannot be caused
	 */
	default void restart() throws Exception {
		throw missing(Ability.RESTART);
	}

	/**
	 * Stops the store from responding, without closing any connection. See
	 * {@link Ability#PAUSE}.
	 * @throws Exception if the fault cannot be caused
	 */
	default void pause() throws Exception {
		throw missing(Ability.PAUSE);
	}

	/**
	 * Lets the store respond again. The contract calls this method after every
	 * {@link #pause()}.
	 * @throws Exception if the store cannot be resumed
	 */
	default void resume() throws Exception {
		throw missing(Ability.PAUSE);
	}

	/**
	 * Ends the session of the first client on the server. See
	 * {@link Ability#KILLED_SESSION}.
	 * @throws Exception if the fault cannot be caused
	 */
	default void killSession() throws Exception {
		throw missing(Ability.KILLED_SESSION);
	}

	private static UnsupportedOperationException missing(Ability ability) {
		return new UnsupportedOperationException(
				"The harness has no %s. Implement it, or list it in lacks() with the reason.".formatted(ability));
	}

}
