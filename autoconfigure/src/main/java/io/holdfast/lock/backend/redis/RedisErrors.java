package io.holdfast.lock.backend.redis;

import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockException;
import io.holdfast.lock.LockName;
import io.holdfast.lock.backend.redis.ScriptClient.Replicated;
import io.holdfast.lock.support.DurationText;
import io.holdfast.lock.support.Failures;
import io.holdfast.lock.support.RedisErrorText;
import io.holdfast.lock.support.Stages;

/**
 * Classifies failures as definite rejections or unknown outcomes, and creates exceptions
 * with a remedy.
 */
final class RedisErrors {

	/** Extracts the error code; before Redis 7, an error inside a script hides it. */
	private static final Pattern CODE = Pattern
		.compile("^(?:ERR Error (?:running|compiling) script.*?-)?([A-Z]{2,})\\b");

	/** How Redis 7.0 and Redis 8.0 report NOPERM for a command inside a script. */
	private static final List<String> NO_PERMISSION_IN_SCRIPT = List.of("The user executing the script can't",
			"ACL failure in script");

	/** Codes of errors that a retry would repeat and that leave the store unchanged. */
	private static final Set<String> DEFINITE = Set.of("NOAUTH", "WRONGPASS", "NOPERM", "OOM", "WRONGTYPE", "MISCONF",
			"ERR");

	private final RedisLockOptions options;

	RedisErrors(RedisLockOptions options) {
		this.options = options;
	}

	/**
	 * Creates the exception for a failed request on a lock.
	 */
	LockBackendException refused(String what, LockName lock, Throwable failure) {
		String code = definiteCode(failure);
		String remedy = (code != null) ? remedy(code, describe(failure))
				: "The outcome is unknown. Anything it wrote expires with the lease at the latest.";
		return new LockBackendException("Lock '%s' %s: Redis at %s failed with '%s'. %s".formatted(lock, what,
				this.options.server(), describe(failure), remedy), Stages.cause(failure));
	}

	/**
	 * Creates the exception for a grant that too few replicas have. A failover could lose
	 * such a lock.
	 */
	LockBackendException unconfirmed(LockName lock, Replicated answer) {
		Throwable failure = answer.failure();
		if (failure != null && definiteCode(failure) != null) {
			return refused("was not confirmed by replicas", lock, failure);
		}
		return new LockBackendException(
				"Lock '%s' reached %s of %s replicas of Redis at %s within %s, which is too few to count. Check that the replicas are connected. If there are fewer, lower 'distributed-lock.redis.wait-replicas'."
					.formatted(lock, answer.replicas(), this.options.waitReplicas(), this.options.server(),
							DurationText.of(this.options.waitReplicasTimeout())),
				failure);
	}

	/** Creates the exception for a lock whose holders could not be read. */
	LockException unread(LockName lock, Throwable failure) {
		Throwable cause = Stages.cause(failure);
		if (cause instanceof NumberFormatException || "WRONGTYPE".equals(definiteCode(cause))) {
			return new LockBackendException("Lock '%s' could not be read from Redis at %s. %s".formatted(lock,
					this.options.server(), remedy("WRONGTYPE", "")), cause);
		}
		return unreachable(cause);
	}

	/**
	 * Creates the exception for a failed first connection.
	 * @return a configuration exception if another attempt would not change it
	 */
	LockException unreachable(Throwable failure) {
		Throwable cause = Stages.cause(failure);
		if (Failures.causes(cause).anyMatch(LinkageError.class::isInstance)) {
			return new LockConfigurationException(
					"Redis at %s cannot store locks: this version of its client does not fit ('%s'). Use Redisson in the version that 'holdfast-bom' manages, or set 'distributed-lock.redis.client=lettuce' and use Lettuce in that of Spring Boot."
						.formatted(this.options.server(), Failures.rootMessage(cause)),
					cause);
		}
		String code = definiteCode(cause);
		if (code != null) {
			return new LockConfigurationException("Redis at %s cannot store locks: '%s'. %s".formatted(
					this.options.server(), firstSentence(describe(cause)), remedy(code, describe(cause))), cause);
		}
		if (Failures.isCertificateRejected(cause)) {
			return new LockConfigurationException(
					"Redis at %s has a certificate that this application does not accept: '%s'. Renew it if it has expired, trust its issuer in the bundle of 'distributed-lock.redis.ssl.bundle' or 'spring.data.redis.ssl.bundle', and connect to a name in the certificate."
						.formatted(this.options.server(), describe(cause)),
					cause);
		}
		String temporary = temporaryRemedy(cause);
		return new LockBackendException(
				(temporary != null)
						? "Redis at %s cannot store locks now: '%s'. %s".formatted(this.options.server(),
								firstSentence(describe(cause)), temporary)
						: "Redis at %s could not be reached: %s. Check that it is running%s whether it uses TLS."
							.formatted(this.options.server(), describe(cause),
									ClientFailures.isTimeout(root(cause))
											? " and responds within 'distributed-lock.response-timeout', and" : " and"),
				cause);
	}

	/**
	 * Returns the remedy for an error with which a server responds for a while.
	 * @return the remedy, or {@code null} if there was no such response
	 */
	static @Nullable String temporaryRemedy(Throwable failure) {
		String code = Failures.causes(failure).map(RedisErrors::code).filter(Objects::nonNull).findFirst().orElse(null);
		if (code == null) {
			return null;
		}
		return switch (code) {
			case "READONLY" -> "Connect to the primary, or wait until this replica is promoted.";
			case "NOREPLICAS" -> "Connect its replicas, or lower its 'min-replicas-to-write'.";
			case "LOADING", "BUSY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "ERR" -> "Check the state of that server.";
			default -> null;
		};
	}

	/** Returns the first sentence of a text, without its period. */
	private static String firstSentence(String text) {
		return text.split("\\.(?= \\p{Lu}|$)", 2)[0];
	}

	/**
	 * Whether Redis does not know the script, so that no part of it has run.
	 */
	static boolean isScriptUnknown(Throwable failure) {
		return ClientFailures.isScriptUnknown(Stages.cause(failure));
	}

	/** Whether the server is a replica, or has become one. */
	static boolean isReadOnly(Throwable failure) {
		return "READONLY".equals(code(Stages.cause(failure)));
	}

	/** Whether another node of the Cluster has the slot of the lock. */
	static boolean isMoved(Throwable failure) {
		return "MOVED".equals(code(Stages.cause(failure)));
	}

	/**
	 * Returns the code of a definite rejection.
	 * @return the code, or {@code null} if the outcome is unknown
	 */
	static @Nullable String definiteCode(Throwable failure) {
		for (Throwable cause : Failures.causes(Stages.cause(failure)).toList()) {
			if (ClientFailures.isShutdown(cause)) {
				return "SHUTDOWN";
			}
			if (ClientFailures.isOutOfMemory(cause)) {
				return "OOM";
			}
			String code = code(cause);
			if (code != null && DEFINITE.contains(code) && !isTemporary(cause)) {
				return code;
			}
		}
		return null;
	}

	private static @Nullable String code(Throwable cause) {
		String reply = ClientFailures.reply(cause);
		if (reply == null) {
			return null;
		}
		if (NO_PERMISSION_IN_SCRIPT.stream().anyMatch(reply::contains)) {
			return "NOPERM";
		}
		Matcher matcher = CODE.matcher(reply);
		return matcher.find() ? matcher.group(1) : null;
	}

	/** Whether an error with a general code ends once the server recovers. */
	private static boolean isTemporary(Throwable cause) {
		return String.valueOf(cause.getMessage()).startsWith("ERR max number of clients");
	}

	/**
	 * Returns the remedy for a definite rejection.
	 */
	private String remedy(String code, String describe) {
		return switch (code) {
			case "NOAUTH", "WRONGPASS" ->
				"Check the username and password of this connection in 'distributed-lock.redis.*', 'spring.data.redis.*' or your client bean.";
			case "NOPERM" ->
				"Grant the user at least: ~%1$s:* &%1$s:* +@connection +eval +evalsha +script|load +get +set +del +exists +pexpire +pexpireat +pttl +time +zadd +zrem +zrange +zrangebyscore +zremrangebyscore +zscore +publish +subscribe +unsubscribe (and +wait if 'wait-replicas' is set)."
					.formatted(this.options.namespace());
			default -> {
				String ofState = remedyOfState(code, this.options.namespace());
				yield (ofState != null) ? ofState : remedyOf(describe);
			}
		};
	}

	/**
	 * Returns the remedy for a definite rejection to which login and permissions do not
	 * matter.
	 * @return the remedy, or {@code null} if there is no such rejection
	 */
	static @Nullable String remedyOfState(@Nullable String code, String namespace) {
		if (code == null) {
			return null;
		}
		return switch (code) {
			case "OOM" -> "Redis is out of memory. Raise its 'maxmemory', or use a separate Redis for locks.";
			case "WRONGTYPE" ->
				"A key of this lock holds other data. Delete it, or set a 'distributed-lock.namespace' other than '%s'."
					.formatted(namespace);
			case "MISCONF" -> "Redis rejects writes. Check its log; often its disk is full.";
			case "SHUTDOWN" -> "The Redis client is shut down. Do not acquire locks after the application has stopped.";
			default -> null;
		};
	}

	/** Returns the remedy for an error without a specific code. */
	private static String remedyOf(String describe) {
		if (describe.contains("DB index") || describe.contains("SELECT")) {
			return "Set an existing database in 'distributed-lock.redis.database', at the end of the address, or in 'spring.data.redis.database'.";
		}
		if (describe.contains("AUTH")) {
			return "This Redis does not use a password. Remove it from 'distributed-lock.redis.password', the address or 'spring.data.redis.password', or set 'requirepass' in Redis.";
		}
		return "Check that this is Redis 5 or later, and that it allows scripts and all commands of the client.";
	}

	/**
	 * Returns the message of a failure without the details that its client appends.
	 */
	static String describe(Throwable failure) {
		Throwable cause = root(failure);
		if (ClientFailures.isTimeout(cause) || cause.getMessage() == null) {
			return "no response in time";
		}
		return RedisErrorText.withoutDetails(cause.getMessage());
	}

	/** Returns the error of the server, or the root cause if there is none. */
	private static Throwable root(Throwable failure) {
		Throwable cause = Stages.cause(failure);
		while (cause.getCause() != null && code(cause) == null && !ClientFailures.isOutOfMemory(cause)) {
			cause = cause.getCause();
		}
		return cause;
	}

}
