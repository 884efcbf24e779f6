package io.holdfast.lock.autoconfigure;

import java.time.Duration;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.support.DurationText;

/**
 * Settings of the health checks.
 *
 * @param timeout Time after which a store that does not respond is down.
 */
@ConfigurationProperties("distributed-lock.health")
record LockHealthProperties(@DefaultValue("1s") Duration timeout) {

	LockHealthProperties {
		if (timeout.isNegative() || timeout.isZero()) {
			throw new LockConfigurationException(
					"'distributed-lock.health.timeout' is %s. Set the time in which a store must respond."
						.formatted(DurationText.of(timeout)));
		}
	}

}
