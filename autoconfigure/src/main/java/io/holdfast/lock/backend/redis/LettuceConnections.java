package io.holdfast.lock.backend.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.resource.ClientResources;
import org.jspecify.annotations.Nullable;

import io.holdfast.lock.support.SharedAttempt;
import io.holdfast.lock.support.SharedRequest;
import io.holdfast.lock.support.Threads;

/**
 * Opens connections with Lettuce. Each reconnects by itself once it was open.
 */
abstract class LettuceConnections {

	private final AbstractRedisClient client;

	private final ClientResources resources;

	private LettuceConnections(AbstractRedisClient client, ClientResources resources) {
		this.client = client;
		this.resources = resources;
	}

	/**
	 * Creates a client. Sends no request.
	 * @param servers the servers
	 * @param resources the client's resources, which {@link #close} shuts down
	 * @param options the client's options
	 * @param connectionTimeout longest wait for a connection
	 */
	static LettuceConnections to(LettuceServers servers, ClientResources resources, LettuceOptions options,
			Duration connectionTimeout) {
		List<RedisURI> uris = servers.uris();
		uris.forEach((uri) -> prepare(uri, connectionTimeout));
		if (servers.cluster()) {
			RedisClusterClient client = RedisClusterClient.create(resources, uris);
			client.setOptions(options.ofCluster());
			return new ToCluster(client, resources);
		}
		RedisClient client = RedisClient.create(resources);
		client.setOptions(options.ofServer());
		return new ToServer(client, resources, uris.get(0));
	}

	private static void prepare(RedisURI uri, Duration connectionTimeout) {
		uri.setClientName("holdfast");
		uri.setTimeout(connectionTimeout);
		uri.getSentinels().forEach((sentinel) -> sentinel.setTimeout(connectionTimeout));
	}

	/** Opens a connection for requests. */
	abstract CompletionStage<LettuceConnection> connect();

	/** Opens a connection for channels. */
	abstract CompletionStage<? extends StatefulRedisPubSubConnection<String, String>> listen();

	/** Closes all connections. Blocks for twice the given time at most. */
	void close(Duration timeout) {
		Threads.close("holdfast-redis-close", timeout.multipliedBy(2), () -> shutdown(timeout));
	}

	private void shutdown(Duration timeout) {
		this.client.shutdown(Duration.ZERO, timeout);
		this.resources.shutdown(0, timeout.toMillis(), TimeUnit.MILLISECONDS)
			.awaitUninterruptibly(timeout.toMillis(), TimeUnit.MILLISECONDS);
	}

	/** One server, or the current master that sentinels name. */
	private static final class ToServer extends LettuceConnections {

		private final RedisClient client;

		private final RedisURI uri;

		ToServer(RedisClient client, ClientResources resources, RedisURI uri) {
			super(client, resources);
			this.client = client;
			this.uri = uri;
		}

		@Override
		CompletionStage<LettuceConnection> connect() {
			return this.client.connectAsync(LettuceTextCodec.INSTANCE, this.uri).thenApply(ToServer::connection);
		}

		private static LettuceConnection connection(StatefulRedisConnection<String, String> connection) {
			RedisClusterAsyncCommands<String, String> commands = connection.async();
			return new LettuceConnection(connection, commands, false,
					(key) -> CompletableFuture.completedStage(commands), () -> {
					});
		}

		@Override
		CompletionStage<? extends StatefulRedisPubSubConnection<String, String>> listen() {
			return this.client.connectPubSubAsync(LettuceTextCodec.INSTANCE, this.uri);
		}

	}

	/** A Cluster. Channels are subscribed at any node, because nodes forward messages. */
	private static final class ToCluster extends LettuceConnections {

		private final RedisClusterClient client;

		private final SharedAttempt<RedisClusterClient> topology;

		private final SharedRequest<@Nullable Void> refresh = new SharedRequest<>();

		ToCluster(RedisClusterClient client, ClientResources resources) {
			super(client, resources);
			this.client = client;
			this.topology = new SharedAttempt<>(() -> client.refreshPartitionsAsync().thenApply((nothing) -> client));
		}

		@Override
		CompletionStage<LettuceConnection> connect() {
			return this.topology.get()
				.thenCompose((known) -> known.connectAsync(LettuceTextCodec.INSTANCE))
				.thenApply((connection) -> new LettuceConnection(connection, connection.async(), true,
						(key) -> master(connection, key), this::readTopology));
		}

		/**
		 * Returns the commands of the master of a key. Such a connection does not follow
		 * a key that has moved, so the topology must be read again for the next attempt.
		 */
		private CompletionStage<RedisClusterAsyncCommands<String, String>> master(
				StatefulRedisClusterConnection<String, String> connection, String key) {
			RedisClusterNode node = connection.getPartitions().getMasterBySlot(SlotHash.getSlot(key));
			if (node == null) {
				readTopology();
				return CompletableFuture
					.failedStage(new IllegalStateException("No node of the cluster has the slot of this lock"));
			}
			return connection.getConnectionAsync(node.getNodeId()).thenApply(StatefulRedisConnection::async);
		}

		private void readTopology() {
			this.refresh.send(this.client::refreshPartitionsAsync);
		}

		@Override
		CompletionStage<? extends StatefulRedisPubSubConnection<String, String>> listen() {
			return this.topology.get().thenCompose((known) -> known.connectPubSubAsync(LettuceTextCodec.INSTANCE));
		}

	}

}
