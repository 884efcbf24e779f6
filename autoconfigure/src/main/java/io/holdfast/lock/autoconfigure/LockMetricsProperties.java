package io.holdfast.lock.autoconfigure;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

import io.holdfast.lock.observation.MicrometerLockObserver;

/**
 * Settings of the meters.
 *
 * @param enabled Whether to record meters of locks.
 * @param maxNames Maximum number of lock names with meters of their own. All further
 * names share the tag value 'other'.
 */
@ConfigurationProperties("distributed-lock.metrics")
record LockMetricsProperties(@DefaultValue("true") boolean enabled,
		@DefaultValue("" + MicrometerLockObserver.DEFAULT_MAX_NAMES) int maxNames) {

}
