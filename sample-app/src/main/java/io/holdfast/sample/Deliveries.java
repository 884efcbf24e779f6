package io.holdfast.sample;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A consumer of messages with a fence. The sender puts the token of its lock into each
 * message, and the consumer drops a message of a stale holder, however late it arrives.
 */
final class Deliveries {

	private final Map<Long, Message> latest = new ConcurrentHashMap<>();

	// tag::message[]
	/** Returns whether the message is current. Acknowledge it in either case. */
	boolean receive(Message message) {
		return this.latest.merge(message.product(), message,
				(seen, next) -> (next.token() < seen.token()) ? seen : next) == message;
	}
	// end::message[]

	int expected(long product) {
		Message message = this.latest.get(product);
		return (message != null) ? message.quantity() : 0;
	}

	/**
	 * A planned delivery.
	 *
	 * @param product the id of the product
	 * @param quantity the quantity
	 * @param token the token of the sender's lock
	 */
	record Message(long product, int quantity, long token) {
	}

}
