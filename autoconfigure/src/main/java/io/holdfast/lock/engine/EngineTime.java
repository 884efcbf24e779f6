package io.holdfast.lock.engine;

/**
 * The one clock of the engine, and what happens later on it. Tests turn it by hand.
 */
interface EngineTime {

	/**
	 * The time on a clock that only goes forward and that no change of the host's time
	 * moves.
	 * @return nanoseconds since the engine began, so that two times may be compared as
	 * numbers
	 */
	long nanos();

	/**
	 * Run a short task later, on a thread that must not be blocked.
	 * @param delayNanos how much later; at once if not positive
	 * @param task what to run
	 * @return what cancels it, if it has not begun
	 */
	Runnable after(long delayNanos, Runnable task);

}
