package io.holdfast.lock.backend.etcd;

import java.util.List;

import io.etcd.jetcd.common.exception.EtcdException;
import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.StatusRuntimeException;
import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockException;
import io.holdfast.lock.LockName;
import io.holdfast.lock.support.Failures;
import io.holdfast.lock.support.Stages;

/**
 * Distinguishes definite errors from unknown outcomes, and creates exceptions with a
 * remedy.
 */
final class EtcdErrors {

	private static final String LEASE_NOT_FOUND = "requested lease not found";

	/** The error of a login at an etcd that has no users. */
	private static final String NO_AUTHENTICATION = "authentication is not enabled";

	/**
	 * The errors of a request whose login etcd has forgotten, or that is older than the
	 * latest change of users and roles. The next request logs in again.
	 */
	private static final List<String> OUTDATED_LOGIN = List.of("invalid auth token", "revision of auth store is old");

	/**
	 * The error of every request that would add data, until an operator clears the alarm.
	 */
	private static final String NO_SPACE = "database space exceeded";

	/** The error of a renewal of more holds than etcd permits in a transaction. */
	private static final String TOO_MANY_OPERATIONS = "too many operations";

	/**
	 * The error of every request after an alarm that the data of the members differ.
	 */
	private static final String CORRUPT = "corrupt cluster";

	private EtcdErrors() {
	}

	/** Whether etcd has reported that the lease does not exist, or no longer exists. */
	static boolean isLeaseGone(Throwable failure) {
		return text(Stages.cause(failure)).contains(LEASE_NOT_FOUND);
	}

	/**
	 * Whether etcd has reported that its quota is used up. It may have carried out the
	 * request, and then raised the alarm because of it.
	 */
	static boolean isSpaceUsedUp(Throwable failure) {
		return text(Stages.cause(failure)).contains(NO_SPACE);
	}

	/**
	 * Whether a failed attempt shows that a claim has lost its key. A late failure may be
	 * about a former key or lease of the claim.
	 */
	static boolean isKeyGone(Throwable cause, QueueNode queueNode) {
		if (cause instanceof EtcdCalls.KeyGoneException gone) {
			return gone.revision() == queueNode.revision();
		}
		EtcdLease lease = queueNode.lease();
		return isLeaseGone(cause) && lease != null && lease.hasEnded();
	}

	/**
	 * Returns why etcd rejects the request permanently, or {@code null} if a retry may
	 * succeed.
	 */
	static @Nullable String refusal(Throwable failure) {
		Throwable cause = Stages.cause(failure);
		if (isLoginOutdated(cause)) {
			return null;
		}
		Status.Code code = code(cause);
		if (code == Status.Code.UNAUTHENTICATED && cause.getCause() != null) {
			// jetcd reports this also if it could not reach the server to log in
			return refusal(cause.getCause());
		}
		boolean definite = code == Status.Code.PERMISSION_DENIED || code == Status.Code.UNAUTHENTICATED
				|| code == Status.Code.INVALID_ARGUMENT || code == Status.Code.UNIMPLEMENTED
				|| text(cause).contains(NO_AUTHENTICATION) || text(cause).contains(NO_SPACE);
		return definite ? text(cause) : null;
	}

	/**
	 * Creates the exception for an error that remains until someone corrects its cause.
	 * @param prefix the prefix of the keys to which locks need access
	 * @return the exception, or {@code null} if the outcome is unknown or a retry may
	 * succeed
	 */
	static @Nullable LockBackendException definite(Throwable failure, LockName lock, String prefix) {
		String refusal = refusal(failure);
		return (refusal != null) ? new LockBackendException(
				"Lock '%s' (backend etcd): etcd rejects the request ".formatted(lock) + advice(refusal, prefix),
				failure) : null;
	}

	/** Returns the definite error, or the cause if the outcome is unknown. */
	static Throwable definiteOrCause(Throwable failure, LockName lock, String prefix) {
		LockBackendException definite = definite(failure, lock, prefix);
		return (definite != null) ? definite : Stages.cause(failure);
	}

	/**
	 * Returns the cause of an unknown outcome, with a remedy if etcd could not be used.
	 */
	static Throwable unknown(Throwable failure, String prefix) {
		Throwable cause = Stages.cause(failure);
		return (code(cause) != null) ? unreachable(cause, prefix) : cause;
	}

	/** Creates the exception for a failed question about etcd itself. */
	static Throwable unavailable(Throwable failure, String prefix) {
		return (refusal(failure) != null) ? unreachable(failure, prefix) : Stages.cause(failure);
	}

	/**
	 * Creates the exception for a failed first request.
	 * @return a configuration exception if another attempt would not change it
	 */
	static LockException unreachable(Throwable failure, String prefix) {
		Throwable cause = Stages.cause(failure);
		String refusal = refusal(cause);
		if (refusal != null) {
			String rejected = refusal.contains(TOO_MANY_OPERATIONS) ? "the request " : "access to locks ";
			return new LockConfigurationException("etcd rejects " + rejected + advice(refusal, prefix), cause);
		}
		return new LockBackendException(temporary(cause).formatted(describe(cause)), cause);
	}

	private static String temporary(Throwable cause) {
		if (Failures.isCertificateRejected(cause)) {
			return "etcd has a certificate that this application does not accept: '%s'. Renew it if it has expired, trust its issuer in the bundle of 'distributed-lock.etcd.ssl.bundle', and connect to a name in the certificate, or set that name in 'distributed-lock.etcd.authority'.";
		}
		if (isDeadlineMissed(cause)) {
			return "etcd could not be used: no response in time. Check that it is running and responds within 'distributed-lock.response-timeout', its endpoints, and whether it uses TLS.";
		}
		if (isLoginOutdated(cause)) {
			return "etcd could not be used: %s. The next request logs in again. If the error remains, check that all members of etcd have the same '--auth-token'.";
		}
		if (text(cause).contains(CORRUPT)) {
			return "etcd could not be used: %s. Replace the members whose data differ, and then clear the alarm with 'etcdctl alarm disarm'.";
		}
		return "etcd could not be used: %s. Check that it is running, its endpoints, and whether it uses TLS.";
	}

	private static boolean isLoginOutdated(Throwable cause) {
		return OUTDATED_LOGIN.stream().anyMatch(text(cause)::contains);
	}

	private static String advice(String refusal, String prefix) {
		if (refusal.contains(NO_SPACE)) {
			return "(%s). Compact and defragment etcd, or raise its '--quota-backend-bytes', and then clear the alarm with 'etcdctl alarm disarm'."
				.formatted(refusal);
		}
		if (refusal.contains(TOO_MANY_OPERATIONS)) {
			return "(%s). Set '--max-txn-ops' of etcd to at least %s.".formatted(refusal, EtcdCalls.OPERATIONS);
		}
		return "(%s). Check 'distributed-lock.etcd.username' and 'password', and that the user's role may read and write keys with the prefix '%s'."
			.formatted(refusal, prefix);
	}

	/** The message of gRPC for it describes the state of its connection. */
	private static boolean isDeadlineMissed(Throwable failure) {
		return Failures.causes(failure).anyMatch((cause) -> code(cause) == Status.Code.DEADLINE_EXCEEDED);
	}

	/** Describes a failure and its root cause, without a final period. */
	private static String describe(Throwable failure) {
		Throwable root = Failures.root(failure);
		// gRPC adds a line about the internals of its connection
		String outer = text(failure).lines().findFirst().orElse("");
		String text = (root == failure || root.getMessage() == null) ? outer : outer + ": " + text(root);
		return Failures.withoutPeriod(text);
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
