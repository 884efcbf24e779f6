package io.holdfast.lock.backend.redis;

import java.net.SocketAddress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;

import io.holdfast.lock.support.Stages;

/**
 * Subscribes to a channel on each new connection until the server accepts it. Lettuce
 * does so only once, and the user may get the permission for the channel later, or the
 * server is busy with a script, or too slow to answer in time. Thread-safe.
 */
final class LettuceResubscription implements RedisConnectionStateListener {

	private static final Duration PAUSE = Duration.ofSeconds(1);

	private final StatefulRedisPubSubConnection<String, String> connection;

	private final String channel;

	/** Whether an attempt is due or under way, which then need not be made twice. */
	private final AtomicBoolean trying = new AtomicBoolean();

	private final BooleanSupplier closed;

	private volatile boolean ended;

	/**
	 * Creates the subscriptions to one channel.
	 * @param closed whether the client of the connection is closed
	 */
	LettuceResubscription(StatefulRedisPubSubConnection<String, String> connection, String channel,
			BooleanSupplier closed) {
		this.connection = connection;
		this.channel = channel;
		this.closed = closed;
	}

	@Override
	public void onRedisConnected(RedisChannelHandler<?, ?> handler, SocketAddress server) {
		if (this.trying.compareAndSet(false, true)) {
			subscribe();
		}
	}

	private void subscribe() {
		if (this.ended || this.closed.getAsBoolean()) {
			return;
		}
		Stages.attempt(() -> this.connection.async().subscribe(this.channel)).whenComplete((nothing, failure) -> {
			// also after a timeout: the server may still reject what it has not answered
			if (failure != null) {
				this.connection.getResources()
					.timer()
					.newTimeout((timeout) -> subscribe(), PAUSE.toMillis(), TimeUnit.MILLISECONDS);
			}
			else {
				this.trying.set(false);
			}
		});
	}

	void end() {
		this.ended = true;
	}

}
