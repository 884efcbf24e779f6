package io.holdfast.lock.backend.etcd;

import io.etcd.jetcd.common.exception.EtcdException;
import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.StatusRuntimeException;
import org.jspecify.annotations.Nullable;

import io.holdfast.lock.support.Stages;

/**
 * Interprets failed requests to etcd.
 */
final class EtcdFailures {

	private static final String LEASE_NOT_FOUND = "requested lease not found";

	private EtcdFailures() {
	}

	/** Whether etcd has reported that the lease does not exist, or no longer exists. */
	static boolean isLeaseGone(Throwable failure) {
		return text(Stages.cause(failure)).contains(LEASE_NOT_FOUND);
	}

	/**
	 * Returns why etcd rejects the request permanently, or {@code null} if a retry may
	 * succeed.
	 */
	static @Nullable String refusal(Throwable failure) {
		Throwable cause = Stages.cause(failure);
		Status.Code code = code(cause);
		if (code == Status.Code.UNAUTHENTICATED && cause.getCause() != null) {
			// jetcd reports this also if it could not reach the server to log in
			return refusal(cause.getCause());
		}
		boolean definite = code == Status.Code.PERMISSION_DENIED || code == Status.Code.UNAUTHENTICATED
				|| code == Status.Code.INVALID_ARGUMENT || code == Status.Code.UNIMPLEMENTED;
		return definite ? text(cause) : null;
	}

	/**
	 * Returns the remedy for a rejected request.
	 * @param refusal why etcd rejects it
	 * @param prefix the prefix of the keys to which locks need access
	 */
	static String advice(String refusal, String prefix) {
		return "(%s). Check 'distributed-lock.etcd.username' and 'password', and that the user's role may read and write keys with the prefix '%s'."
			.formatted(refusal, prefix);
	}

	/** Describes a failure and its root cause. */
	static String describe(Throwable failure) {
		Throwable root = failure;
		while (root.getCause() != null) {
			root = root.getCause();
		}
		return (root == failure) ? text(failure) : text(failure) + ": " + text(root);
	}

	private static Status.@Nullable Code code(Throwable failure) {
		if (failure instanceof EtcdException etcd) {
			return Status.Code.valueOf(etcd.getErrorCode().name());
		}
		if (failure instanceof StatusRuntimeException runtime) {
			return runtime.getStatus().getCode();
		}
		return (failure instanceof StatusException checked) ? checked.getStatus().getCode() : null;
	}

	private static String text(Throwable failure) {
		return String.valueOf(failure.getMessage());
	}

}
