package io.holdfast.lock.backend.redlock;

/**
 * Says that a request was not sent to a node. Without a stack trace, because there may be
 * many.
 */
final class NotSentException extends RuntimeException {

	NotSentException(String reason) {
		super(reason, null, false, false);
	}

}
