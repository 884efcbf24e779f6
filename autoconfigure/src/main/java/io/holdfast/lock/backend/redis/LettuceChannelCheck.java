package io.holdfast.lock.backend.redis;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;

/**
 * Sends a request from time to time on the connection of the channel, on which nothing
 * else is sent. If its server hangs, or has vanished behind a proxy, TCP stays connected,
 * but the missing response closes the connection.
 */
final class LettuceChannelCheck {

	private static final Duration PERIOD = Duration.ofSeconds(5);

	private final StatefulRedisPubSubConnection<String, String> connection;

	private final BooleanSupplier closed;

	/**
	 * Creates the checks of one connection.
	 * @param closed whether the client of the connection is closed, which ends the checks
	 */
	LettuceChannelCheck(StatefulRedisPubSubConnection<String, String> connection, BooleanSupplier closed) {
		this.connection = connection;
		this.closed = closed;
	}

	void schedule() {
		this.connection.getResources()
			.timer()
			.newTimeout((timeout) -> check(), PERIOD.toMillis(), TimeUnit.MILLISECONDS);
	}

	private void check() {
		if (!this.closed.getAsBoolean()) {
			schedule();
			this.connection.async().ping();
		}
	}

}
