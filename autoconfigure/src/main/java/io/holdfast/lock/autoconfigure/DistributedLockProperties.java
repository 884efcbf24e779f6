package io.holdfast.lock.autoconfigure;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.support.BlankText;
import io.holdfast.lock.transaction.WhenActive;

/**
 * Settings of all locks, independent of their store.
 *
 * @param enabled Whether Holdfast is enabled.
 * @param backend Backend of locks that do not name one. Defaults to the only store that
 * is configured or that the application has a client for, otherwise to this JVM. A
 * DataSource is no such client.
 * @param namespace Prefix of all names that are written to a store.
 * @param waitTime Maximum time to wait for a lock.
 * @param leaseTime Time for which the store keeps a lock without renewal.
 * @param responseTimeout Time after which the outcome of a request to the store is
 * unknown.
 * @param awaitRelease Whether the caller waits until the store has confirmed the release.
 * @param interruptOnLoss Whether to interrupt the acquiring thread when its lock is lost.
 * @param shutdownTimeout Maximum time to wait for running bodies at shutdown.
 * @param failFast Whether the application fails to start if a store is unreachable.
 * @param startupTimeout How long to retry a store at startup.
 * @param watchLockOrder Whether to report nested acquisitions in contradictory orders
 * within this application. Intended for development.
 * @param lockDelay Time for which a lost lock stays locked. Protects resources that
 * cannot be fenced.
 * @param handoff Handoff of leases between callers of this application.
 * @param sticky Time for which a lease stays in this application after its last hold,
 * unless another instance needs it. Zero releases it immediately.
 * @param transaction Locks and transactions.
 */
@ConfigurationProperties("distributed-lock")
record DistributedLockProperties(@DefaultValue("true") boolean enabled, @Nullable String backend,
		@DefaultValue("holdfast") String namespace, @DefaultValue("5s") Duration waitTime,
		@DefaultValue("30s") Duration leaseTime, @DefaultValue("1s") Duration responseTimeout,
		@DefaultValue("false") boolean awaitRelease, @DefaultValue("false") boolean interruptOnLoss,
		@DefaultValue("10s") Duration shutdownTimeout, @DefaultValue("true") boolean failFast,
		@DefaultValue("10s") Duration startupTimeout, @DefaultValue("false") boolean watchLockOrder,
		@DefaultValue("0s") Duration lockDelay, @DefaultValue Handoff handoff, @DefaultValue("0s") Duration sticky,
		@DefaultValue Transaction transaction) {

	DistributedLockProperties {
		if (namespace.isBlank()) {
			throw new LockConfigurationException(
					"The property 'distributed-lock.namespace' is blank, so locks of different applications could have the same name. Set a name, or remove the property for the default.");
		}
		// trimming it would change the names of locks that other instances hold
		if (BlankText.isBlank(namespace.substring(0, 1))
				|| BlankText.isBlank(namespace.substring(namespace.length() - 1))) {
			throw new LockConfigurationException(
					"The property 'distributed-lock.namespace' is '%s', which starts or ends with a blank or invisible character, so instances with and without it would hold the same lock. Remove the blank."
						.formatted(namespace));
		}
		// Spring Boot leaves a placeholder that it cannot resolve in the value.
		if (namespace.contains("${")) {
			throw new LockConfigurationException(
					"The property 'distributed-lock.namespace' is '%s', whose placeholder cannot be resolved, so instances with and without its value would hold the same lock. Set the property in the placeholder, or write a default, as in ${name:default}."
						.formatted(namespace));
		}
	}

	/**
	 * Limits of the handoff.
	 *
	 * @param maxHolds Number of holds that a lease serves before claims of other
	 * applications that wait for the lock; 1 disables handoff.
	 * @param maxTime Time for which a lease is passed on before claims of other
	 * applications that wait for the lock.
	 */
	record Handoff(@DefaultValue("64") int maxHolds, @DefaultValue("5ms") Duration maxTime) {
	}

	/**
	 * Locks and the caller's transaction.
	 *
	 * @param whenActive What to do if the caller is already in a transaction.
	 */
	record Transaction(@DefaultValue("hold") WhenActive whenActive) {
	}

}
