package io.holdfast.lock.engine;

/**
 * Sends acquisition attempts, immediately or as soon as there is capacity for them.
 */
@FunctionalInterface
interface RequestSender {

	/**
	 * Sends a request, unless it is withdrawn first.
	 * @param request the request
	 */
	void send(StoreRequest<?> request);

}
