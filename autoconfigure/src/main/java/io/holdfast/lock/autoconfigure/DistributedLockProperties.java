package io.holdfast.lock.autoconfigure;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

import io.holdfast.lock.transaction.WhenActive;

/**
 * The settings of every lock, whatever its store.
 *
 * @param enabled Whether locks are set up at all.
 * @param backend Store of locks that name none. If absent, the only one that is
 * configured or that the application has a client for, else this JVM.
 * @param namespace Prefix of everything that is written to a store.
 * @param waitTime Longest wait to acquire a lock.
 * @param leaseTime Time that the store keeps a lock without renewal.
 * @param responseTimeout Time after which an unanswered request to the store counts as of
 * unknown outcome.
 * @param awaitRelease Whether the caller waits until the store has answered a release.
 * @param interruptOnLoss Whether the thread that acquired a lock is interrupted when it
 * is lost.
 * @param shutdownTimeout Longest wait at shutdown for running bodies to end by
 * themselves.
 * @param failFast Whether an unreachable store stops the start of the application.
 * @param startupTimeout How long the start retries a store that cannot be used yet.
 * @param watchLockOrder Whether nested acquisitions in contradictory orders are reported,
 * a diagnosis for development.
 * @param lockDelay Time for which a lock stays closed after it was lost rather than
 * released, for resources that cannot be fenced.
 * @param transaction How a lock meets the caller's transaction.
 */
@ConfigurationProperties("distributed-lock")
record DistributedLockProperties(@DefaultValue("true") boolean enabled, @Nullable String backend,
		@DefaultValue("holdfast") String namespace, @DefaultValue("5s") Duration waitTime,
		@DefaultValue("30s") Duration leaseTime, @DefaultValue("1s") Duration responseTimeout,
		@DefaultValue("false") boolean awaitRelease, @DefaultValue("false") boolean interruptOnLoss,
		@DefaultValue("10s") Duration shutdownTimeout, @DefaultValue("true") boolean failFast,
		@DefaultValue("10s") Duration startupTimeout, @DefaultValue("false") boolean watchLockOrder,
		@DefaultValue("0s") Duration lockDelay, @DefaultValue Transaction transaction) {

	/**
	 * How a lock meets the caller's transaction.
	 *
	 * @param whenActive What to do when the caller is already in a transaction.
	 */
	record Transaction(@DefaultValue("hold") WhenActive whenActive) {
	}

}
