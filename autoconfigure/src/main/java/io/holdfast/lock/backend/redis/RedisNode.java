package io.holdfast.lock.backend.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/**
 * One Redis server that runs scripts, for backends that use several of them. Each request
 * is sent once and ends at the response timeout. If the server no longer knows a script,
 * the request sends its text.
 *
 * <p>
 * Thread-safe. The first request blocks while the client connects.
 */
public final class RedisNode {

	private final ScriptClient client;

	private final RedisScripts scripts;

	private final RedisLockOptions options;

	/**
	 * Creates a node. Sends no request.
	 * @param client the node's client, which {@link #close()} closes
	 * @param namespace prefix of every key
	 * @param responseTimeout time after which an unanswered request fails
	 * @param address the node's address in messages, without credentials
	 */
	public RedisNode(ScriptClient client, String namespace, Duration responseTimeout, String address) {
		this.client = client;
		this.options = new RedisLockOptions(namespace, responseTimeout, 0, Duration.ZERO, address);
		this.scripts = new RedisScripts(client, this.options);
	}

	/**
	 * Runs a script.
	 * @param script the script
	 * @param keys its keys
	 * @param args its arguments
	 * @return the script's result: numbers as {@code Long}, text as {@code String}. A
	 * failure completes the stage; this method never throws
	 */
	public CompletionStage<List<Object>> run(RedisScript script, List<Object> keys, Object... args) {
		return this.scripts.run(script, keys, args);
	}

	/**
	 * Subscribes to a channel. After a lost connection, the client subscribes again.
	 * @param channel the channel
	 * @param listener receives the messages, on a thread of the client
	 * @return completes when this client is subscribed; never throws
	 */
	public CompletionStage<?> subscribe(String channel, Consumer<String> listener) {
		return this.client.subscribe(channel, listener);
	}

	/**
	 * Returns whether scripts reach the server in the order in which they are sent,
	 * unless a connection breaks.
	 * @return whether they are ordered
	 */
	public boolean isOrdered() {
		return this.client.isOrdered();
	}

	/**
	 * Returns the node's address for messages.
	 * @return the address, without credentials
	 */
	public String address() {
		return this.options.server();
	}

	/**
	 * Closes the client.
	 */
	public void close() {
		this.client.close();
	}

	/**
	 * Whether a failure is definite: retrying does not resolve it, and the request had no
	 * effect.
	 * @param failure the failure of a request
	 * @return {@code false} if the outcome is unknown
	 */
	public static boolean isDefinite(Throwable failure) {
		return RedisErrors.definiteCode(failure) != null;
	}

	/**
	 * Returns the remedy for a definite failure to which login and permissions do not
	 * matter, such as that of a server whose disk is full.
	 * @param failure the failure of a request
	 * @param namespace prefix of every key
	 * @return the remedy, or {@code null} if there is no such failure
	 */
	public static @Nullable String remedyOfState(Throwable failure, String namespace) {
		return RedisErrors.remedyOfState(RedisErrors.definiteCode(failure), namespace);
	}

	/**
	 * Returns the remedy for an error with which a node responds for a while, such as one
	 * that rejects writes because it lacks replicas.
	 * @param failure the failure of a request
	 * @return the remedy, or {@code null} if there was no such response
	 */
	public static @Nullable String temporaryRemedy(Throwable failure) {
		return RedisErrors.temporaryRemedy(failure);
	}

	/**
	 * Describes the failure of a request.
	 * @param failure the failure of a request
	 * @return such as 'no response in time', without secrets
	 */
	public static String describe(Throwable failure) {
		return RedisErrors.describe(failure);
	}

}
