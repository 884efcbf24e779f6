package io.holdfast.lock.backend.redlock;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * What one node said to one request.
 *
 * @param node the node
 * @param value what its script gave, or {@code null}
 * @param failure why there is no value, or {@code null}
 */
record NodeAnswer(RedlockNode node, @Nullable List<Object> value, @Nullable Throwable failure) {

	private static final long YES = 1;

	private static final long NO = 0;

	private static final long NO_VOTE = -1;

	static boolean isNoVote(List<Object> value) {
		return (Long) value.get(0) == NO_VOTE;
	}

	boolean isYes() {
		return is(YES);
	}

	boolean isNo() {
		return is(NO);
	}

	/** Whether the node restarted or was flushed, and so has nothing to say. */
	boolean isNoVote() {
		return is(NO_VOTE);
	}

	private boolean is(long code) {
		return this.value != null && (Long) this.value.get(0) == code;
	}

	/**
	 * A number of the answer.
	 * @param index its place; zero is the code
	 */
	long number(int index) {
		if (this.value == null) {
			throw new IllegalStateException("No answer of " + this.node, this.failure);
		}
		return (Long) this.value.get(index);
	}

}
