package io.holdfast.lock.backend.redis;

import java.util.concurrent.CompletionStage;
import java.util.function.Function;

import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;

/**
 * A connection of Lettuce, which on a Cluster stands for connections to its nodes.
 *
 * @param connection the connection
 * @param commands its commands; on a Cluster, each goes to the master of its keys
 * @param cluster whether this is a connection to a Cluster
 * @param masters returns the commands of the connection to the master of a key
 * @param readTopology reads the topology of a Cluster again
 */
record LettuceConnection(StatefulConnection<String, String> connection,
		RedisClusterAsyncCommands<String, String> commands, boolean cluster,
		Function<String, CompletionStage<? extends RedisClusterAsyncCommands<String, String>>> masters,
		Runnable readTopology) {

	/** Whether there is no connection, and another one has to be opened. */
	boolean isLost() {
		return !this.cluster && !this.connection.isOpen();
	}

}
