package io.holdfast.lock.engine;

import java.util.concurrent.TimeoutException;

import org.jspecify.annotations.Nullable;

/**
 * The attempts of one acquisition whose outcome is unknown, since the last definite
 * answer.
 */
final class UnknownOutcomes {

	private int number;

	private @Nullable Throwable last;

	/**
	 * Adds one. What is known stays the reason if the wait ends before the next attempt
	 * is answered; one that was not sent changes nothing that is known, unless it was the
	 * first.
	 * @param attempts how many attempts were made
	 * @return how many there were before
	 */
	int add(Throwable cause, int attempts) {
		boolean tellsNothing = cause instanceof NoAnswerException none
				&& (this.last != null || (!none.sent && attempts > 1));
		this.last = tellsNothing ? this.last : cause;
		return this.number++;
	}

	/** Forgets them, because the backend has given a definite answer. */
	void clear() {
		this.number = 0;
		this.last = null;
	}

	/** Why the outcome is unknown, or {@code null} if it is not. */
	@Nullable Throwable last() {
		return this.last;
	}

	/** The backend has not answered, or was not asked in time. */
	static final class NoAnswerException extends TimeoutException {

		private static final long serialVersionUID = 1L;

		private final boolean sent;

		NoAnswerException(boolean sent) {
			super(sent ? "no answer in time" : "too many requests were under way to send this one in time");
			this.sent = sent;
		}

	}

}
