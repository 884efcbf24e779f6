package io.holdfast.lock.engine;

/**
 * Sends the attempts of acquisitions, at once or as soon as there is room for them.
 */
@FunctionalInterface
interface RequestSender {

	/**
	 * Send a request, unless it is withdrawn before.
	 * @param request the request
	 */
	void send(StoreRequest<?> request);

}
