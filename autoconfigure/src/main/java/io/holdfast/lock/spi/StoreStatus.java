package io.holdfast.lock.spi;

import java.util.Map;

/**
 * The state of a store, as a health check reports it.
 *
 * @param state whether the store can grant locks now
 * @param details what an operator needs to judge the state, such as the state of each
 * node, as text and numbers by name
 */
public record StoreStatus(State state, Map<String, Object> details) {

	/** The status of a store whose backend cannot check it. */
	public static final StoreStatus UNKNOWN = new StoreStatus(State.UNKNOWN, Map.of());

	/**
	 * Copies the details.
	 */
	public StoreStatus {
		details = Map.copyOf(details);
	}

	/**
	 * Creates the status of a store that can grant locks.
	 * @param details the details
	 * @return the status
	 */
	public static StoreStatus available(Map<String, Object> details) {
		return new StoreStatus(State.AVAILABLE, details);
	}

	/**
	 * Creates the status of a store that responds but cannot grant locks.
	 * @param details the details, which contain the reason
	 * @return the status
	 */
	public static StoreStatus unavailable(Map<String, Object> details) {
		return new StoreStatus(State.UNAVAILABLE, details);
	}

	/**
	 * Whether a store can grant locks.
	 */
	public enum State {

		/** The store has responded and can grant locks. */
		AVAILABLE,

		/** The store cannot grant locks now. */
		UNAVAILABLE,

		/** The backend cannot check its store. */
		UNKNOWN

	}

}
