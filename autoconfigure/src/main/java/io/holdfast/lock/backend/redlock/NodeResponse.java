package io.holdfast.lock.backend.redlock;

import java.util.List;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.backend.redis.RedisNode;
import io.holdfast.lock.support.Stages;

/**
 * The response of one node to one request.
 *
 * @param node the node
 * @param value the script's result, or {@code null}
 * @param failure why there is no result, or {@code null}
 */
record NodeResponse(RedlockNode node, @Nullable List<Object> value, @Nullable Throwable failure) {

	/** The response to the release of a claim that a node does not have. */
	static final List<Object> NOT_HELD = List.of(0L);

	/**
	 * Begins the name of what blocks a claim if shared leases do; the owners of those
	 * that end first follow, each after a space.
	 */
	static final String READERS = "readers";

	private static final long YES = 1;

	private static final long NO = 0;

	private static final long NO_VOTE = -1;

	/**
	 * The element of the response to an attempt that says whether a lease is demanded.
	 */
	private static final int DEMAND = 4;

	private static final int BLOCKER = 3;

	private static final int REJECTED_AT = 5;

	private static final int LATEST_TOKEN = 6;

	static boolean isNoVote(List<Object> value) {
		return (Long) value.get(0) == NO_VOTE;
	}

	boolean isYes() {
		return is(YES);
	}

	boolean isNo() {
		return is(NO);
	}

	/** Whether the node has restarted or was flushed, and therefore does not vote. */
	boolean isNoVote() {
		return is(NO_VOTE);
	}

	/**
	 * Whether the response to an attempt says that other claims wait for the sticky lease
	 * that the node has granted, or that the node has demanded the one that blocks it.
	 */
	boolean demands() {
		return number(DEMAND) == 1;
	}

	/** Returns who blocks the attempt: an owner, or {@link #READERS} and some of them. */
	String blocker() {
		return (String) item(BLOCKER);
	}

	/** Returns when the node rejected the attempt, in microseconds of its clock. */
	long rejectedAtMicros() {
		return number(REJECTED_AT);
	}

	/**
	 * Returns the latest token of the lock when the node rejected the attempt, or zero.
	 */
	long latestToken() {
		return number(LATEST_TOKEN);
	}

	/** Whether the request was not sent, so that it has no effect. */
	boolean isNotSent() {
		return this.failure != null && Stages.cause(this.failure) instanceof NotSentException;
	}

	/** Whether the request was sent, but not answered in time, so that it may be late. */
	boolean isMissing() {
		return this.failure != null && !isNotSent() && !RedisNode.isDefinite(this.failure);
	}

	/**
	 * Returns the run id of the server, which ends the responses that count as votes.
	 * @return the run id, or {@code null} if there is none
	 */
	@Nullable String runId() {
		return (this.value != null && this.value.get(this.value.size() - 1) instanceof String runId) ? runId : null;
	}

	/** Returns the response of a node that is the same server as another. */
	NodeResponse asSecondOf(RedlockNode other, String runId) {
		return new NodeResponse(this.node, null, new SameServerException(other, this.node, runId));
	}

	private boolean is(long code) {
		return this.value != null && (Long) this.value.get(0) == code;
	}

	/**
	 * Returns a number from the result.
	 * @param index its index; zero is the code
	 */
	long number(int index) {
		return (Long) item(index);
	}

	private Object item(int index) {
		if (this.value == null) {
			throw new IllegalStateException("No response from " + this.node, this.failure);
		}
		return this.value.get(index);
	}

}
