package io.holdfast.lock.backend.redlock;

import org.jspecify.annotations.Nullable;

/**
 * Says that a request was not sent to a node. Without a stack trace, because there may be
 * many.
 */
final class NotSentException extends RuntimeException {

	NotSentException(String reason) {
		this(reason, null);
	}

	/**
	 * Creates the exception.
	 * @param reason why the request was not sent
	 * @param cause the failure that prevented it, or {@code null} if there is none
	 */
	NotSentException(String reason, @Nullable Throwable cause) {
		super(reason, cause, false, false);
	}

}
