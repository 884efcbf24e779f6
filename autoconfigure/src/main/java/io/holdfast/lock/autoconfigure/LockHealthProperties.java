package io.holdfast.lock.autoconfigure;

import java.time.Duration;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings of the health checks.
 *
 * @param timeout Time after which a store that does not respond is down.
 */
@ConfigurationProperties("distributed-lock.health")
record LockHealthProperties(@DefaultValue("1s") Duration timeout) {

}
