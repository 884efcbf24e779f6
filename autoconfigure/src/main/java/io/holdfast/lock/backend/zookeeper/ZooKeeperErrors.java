package io.holdfast.lock.backend.zookeeper;

import java.util.concurrent.TimeoutException;

import org.apache.zookeeper.KeeperException;
import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockException;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.support.Failures;
import io.holdfast.lock.support.Stages;

/**
 * Distinguishes definite errors from unknown outcomes, and creates exceptions with a
 * remedy.
 */
final class ZooKeeperErrors {

	private ZooKeeperErrors() {
	}

	/**
	 * Creates the exception for an error that remains until someone corrects its cause.
	 * @param root the node below which locks need access
	 * @return the exception, or {@code null} if the outcome is unknown or a retry may
	 * succeed
	 */
	static @Nullable LockBackendException definite(Throwable failure, LockName lock, String root) {
		if (Stages.cause(failure) instanceof LockBackendException known) {
			return known;
		}
		String refusal = refusal(failure, root);
		return (refusal != null) ? new LockBackendException(
				"Lock '%s' (backend zookeeper): %s".formatted(lock, refusal), Stages.cause(failure)) : null;
	}

	/**
	 * Describes an error that remains until someone corrects its cause, and the remedy.
	 * @return the text, or {@code null} if the outcome is unknown or a retry may succeed
	 */
	static @Nullable String refusal(Throwable failure, String root) {
		Throwable cause = Stages.cause(failure);
		if (cause instanceof MissingParentException) {
			return "ZooKeeper creates no node below '%s' (NONODE). If the connect string ends with a path, create the node of that path."
				.formatted(root);
		}
		return (cause instanceof KeeperException keeper) ? refusal(keeper.code(), root) : null;
	}

	private static @Nullable String refusal(KeeperException.Code code, String root) {
		return switch (code) {
			case NOAUTH, AUTHFAILED ->
				"ZooKeeper denies access below '%s' (%s). Authorize the CuratorFramework bean, or set an ACL on the node, to create, read and delete there."
					.formatted(root, code);
			case INVALIDACL ->
				"ZooKeeper rejects the ACL of new nodes below '%s' (INVALIDACL). Authorize the CuratorFramework bean, or correct its ACLProvider."
					.formatted(root);
			case NOCHILDRENFOREPHEMERALS ->
				"ZooKeeper creates no node below '%s', because a node of that path is ephemeral (NOCHILDRENFOREPHEMERALS). Delete that node, or set another path in 'distributed-lock.zookeeper.base-path'."
					.formatted(root);
			case EPHEMERALONLOCALSESSION ->
				"ZooKeeper creates no ephemeral node below '%s', because sessions are local (EPHEMERALONLOCALSESSION). Set 'localSessionsUpgradingEnabled=true' in the configuration of the servers, or disable local sessions."
					.formatted(root);
			case UNIMPLEMENTED ->
				"ZooKeeper does not know a request that locks need (UNIMPLEMENTED). Use ZooKeeper 3.5 or later.";
			default -> null;
		};
	}

	/** Returns the definite error, or the cause if the outcome is unknown. */
	static Throwable definiteOrCause(Throwable failure, LockName lock, String root) {
		LockBackendException definite = definite(failure, lock, root);
		return (definite != null) ? definite : Stages.cause(failure);
	}

	/**
	 * Returns the result of a release whose outcome is unknown, and throws a definite
	 * error.
	 */
	static ReleaseResult unknownRelease(Throwable failure, LockName lock, String root) {
		LockBackendException definite = definite(failure, lock, root);
		if (definite != null) {
			throw definite;
		}
		return new ReleaseResult.Indeterminate(Stages.cause(failure));
	}

	/**
	 * Creates the exception for a wait queue that has used all sequence numbers.
	 */
	static LockBackendException numbersUsedUp(LockName lock) {
		return new LockBackendException(
				"Lock '%s' (backend zookeeper): its wait queue has used nearly all 2^31 sequence numbers, and was never empty for a minute. The numbers restart at zero once no caller has asked for the lock for about a minute. Pause the callers of this lock for that time."
					.formatted(lock));
	}

	/**
	 * Creates the exception for a failed first request.
	 * @return a configuration exception if another attempt would not change it
	 */
	static LockException unreachable(Throwable failure, String root) {
		Throwable cause = Stages.cause(failure);
		String refusal = refusal(cause, root);
		if (refusal != null) {
			return new LockConfigurationException(refusal, cause);
		}
		boolean silent = cause instanceof TimeoutException || cause instanceof InterruptedException
				|| cause instanceof KeeperException.ConnectionLossException;
		return new LockBackendException(
				"ZooKeeper %s. Check that it is running, and the connect string."
					.formatted(silent ? "did not respond" : "could not be used: " + Failures.rootMessage(cause)),
				silent ? null : cause);
	}

	/**
	 * Creates the exception for a claim that is the first, in a session whose age is not
	 * known. Nothing is wrong with ZooKeeper.
	 */
	static LockBackendException sessionNotProven() {
		return new LockBackendException(
				"It is not proven yet how long the session lasts, as after a start that took longer than most of the session timeout, or after a lost session. The proof takes about a third of the session timeout. Repeat the call.");
	}

	/** Creates the exception for a failed question about ZooKeeper itself. */
	static Throwable unavailable(Throwable failure, String root) {
		Throwable cause = Stages.cause(failure);
		String refusal = refusal(cause, root);
		return (refusal != null) ? new LockBackendException(refusal, cause) : cause;
	}

	/**
	 * The parent of a node is still missing although the client has created it before.
	 */
	static final class MissingParentException extends Exception {

		MissingParentException(Throwable cause) {
			super(cause);
		}

	}

}
