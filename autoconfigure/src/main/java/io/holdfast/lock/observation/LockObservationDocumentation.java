package io.holdfast.lock.observation;

import io.micrometer.common.docs.KeyName;
import io.micrometer.observation.docs.ObservationDocumentation;

/**
 * Observations of locks, which become spans of a trace. The name and the key of a lock
 * are values of high cardinality, so they are part of spans but not of meters.
 */
public enum LockObservationDocumentation implements ObservationDocumentation {

	/**
	 * Time until a lock is acquired or the attempt fails.
	 */
	ACQUISITION("distributed.lock.acquisition", "acquire lock"),

	/**
	 * Time for which a lock is held. Spans of the caller's code are its children where
	 * that code runs as an action or in an annotated method.
	 */
	HOLD("distributed.lock.holding", "hold lock");

	private final String observationName;

	private final String verb;

	LockObservationDocumentation(String observationName, String verb) {
		this.observationName = observationName;
		this.verb = verb;
	}

	@Override
	public String getName() {
		return this.observationName;
	}

	@Override
	public String getContextualName() {
		return this.verb;
	}

	@Override
	public KeyName[] getLowCardinalityKeyNames() {
		return LowCardinality.values();
	}

	@Override
	public KeyName[] getHighCardinalityKeyNames() {
		return HighCardinality.values();
	}

	/**
	 * Keys with few values.
	 */
	public enum LowCardinality implements KeyName {

		/** The name of the backend. */
		BACKEND("lock.backend"),

		/**
		 * The outcome of an acquisition, or {@code released} or {@code lost} for a hold.
		 */
		OUTCOME("lock.outcome");

		private final String keyName;

		LowCardinality(String keyName) {
			this.keyName = keyName;
		}

		@Override
		public String asString() {
			return this.keyName;
		}

	}

	/**
	 * Keys with any number of values.
	 */
	public enum HighCardinality implements KeyName {

		/** The lock, such as {@code stock:42}. */
		LOCK("lock"),

		/** The fencing token of the hold. */
		TOKEN("lock.token");

		private final String keyName;

		HighCardinality(String keyName) {
			this.keyName = keyName;
		}

		@Override
		public String asString() {
			return this.keyName;
		}

	}

}
