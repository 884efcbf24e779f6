package io.holdfast.lock.engine;

import java.util.concurrent.TimeoutException;

import org.jspecify.annotations.Nullable;

/**
 * Attempts of one acquisition whose outcome is unknown, since the last definite response.
 */
final class UnknownOutcomes {

	private int number;

	private @Nullable Throwable last;

	/**
	 * Adds an attempt. A missing response never replaces a known cause. An attempt that
	 * was not sent gives no cause, unless it was the first one.
	 * @param cause why the outcome is unknown
	 * @param attempts the number of attempts that were made
	 * @return the number of unknown outcomes before this one
	 */
	int add(Throwable cause, int attempts) {
		boolean tellsNothing = cause instanceof NoAnswerException none
				&& (this.last != null || (!none.sent && attempts > 1));
		this.last = tellsNothing ? this.last : cause;
		return this.number++;
	}

	/** Removes all attempts, because the backend has given a definite response. */
	void clear() {
		this.number = 0;
		this.last = null;
	}

	/** Returns why the outcome is unknown, or {@code null} if it is known. */
	@Nullable Throwable last() {
		return this.last;
	}

	/** Signals a missing response, or a request that was not sent in time. */
	static final class NoAnswerException extends TimeoutException {

		private static final long serialVersionUID = 1L;

		private final boolean sent;

		NoAnswerException(boolean sent) {
			super(sent ? "no response in time" : "too many requests were in progress to send this one in time");
			this.sent = sent;
		}

	}

}
