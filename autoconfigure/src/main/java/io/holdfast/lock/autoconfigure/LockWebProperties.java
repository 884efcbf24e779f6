package io.holdfast.lock.autoconfigure;

import java.time.Duration;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings of the answer to web requests that fail because of a lock.
 *
 * @param enabled Whether to answer exceptions of locks that the application does not
 * handle with RFC 9457 problems.
 * @param status HTTP status if another holder kept the lock for the whole wait.
 * @param retryAfter Time in the header 'Retry-After', rounded up to seconds; zero omits
 * the header.
 */
@ConfigurationProperties("distributed-lock.web")
record LockWebProperties(@DefaultValue("true") boolean enabled, @DefaultValue("503") int status,
		@DefaultValue("1s") Duration retryAfter) {

}
