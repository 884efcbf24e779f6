package io.holdfast.lock.backend.redis;

import java.time.Duration;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.MaintNotificationsConfig;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.SocketOptions.KeepAliveOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import org.jspecify.annotations.Nullable;

/**
 * Options of Lettuce for locks. A request is sent at most once: while there is no
 * connection it is rejected, and when its connection is lost it fails, instead of waiting
 * in a queue for the next connection. Only the engine knows whether a retry is wanted.
 *
 * @param application the options of the application's client, or {@code null} for the
 * defaults
 * @param connectionTimeout longest wait for a connection
 * @param responseTimeout time after which an unanswered request fails
 */
record LettuceOptions(@Nullable ClientOptions application, Duration connectionTimeout, Duration responseTimeout) {

	/** Longest queue of requests on one connection. */
	private static final int QUEUE = 65_536;

	private static final Duration TOPOLOGY_PERIOD = Duration.ofSeconds(5);

	private static final Duration TOPOLOGY_AFTER_ERROR = Duration.ofMillis(500);

	ClientOptions ofServer() {
		ClientOptions base = (this.application != null) ? this.application : ClientOptions.create();
		return adapt(base.mutate(), base).build();
	}

	ClusterClientOptions ofCluster() {
		ClusterClientOptions base = (this.application instanceof ClusterClientOptions cluster) ? cluster
				: ClusterClientOptions.builder(ofServer()).build();
		ClusterClientOptions.Builder builder = base.mutate();
		adapt(builder, base);
		return builder
			.topologyRefreshOptions(ClusterTopologyRefreshOptions.builder()
				.enablePeriodicRefresh(TOPOLOGY_PERIOD)
				.adaptiveRefreshTriggersTimeout(TOPOLOGY_AFTER_ERROR)
				.build())
			.build();
	}

	private ClientOptions.Builder adapt(ClientOptions.Builder builder, ClientOptions base) {
		SocketOptions sockets = base.getSocketOptions()
			.mutate()
			.connectTimeout(this.connectionTimeout)
			.keepAlive(keepAlive())
			.build();
		return builder.autoReconnect(true)
			.disconnectedBehavior(DisconnectedBehavior.REJECT_COMMANDS)
			.requestQueueSize(QUEUE)
			.timeoutOptions(TimeoutOptions.enabled(this.responseTimeout))
			.socketOptions(sockets)
			.pingBeforeActivateConnection(true)
			.suspendReconnectOnProtocolFailure(false)
			.publishOnScheduler(false)
			.maintNotificationsConfig(MaintNotificationsConfig.disabled());
	}

	/** Detects a lost connection on which nothing is sent: that of the channel. */
	private static KeepAliveOptions keepAlive() {
		return KeepAliveOptions.builder()
			.enable()
			.idle(Duration.ofSeconds(5))
			.interval(Duration.ofSeconds(1))
			.count(3)
			.build();
	}

}
