package io.holdfast.lock.backend.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

import org.redisson.api.RedissonClient;

/**
 * One Redis as a place where scripts run, for stores that are made of several. Each
 * request has one attempt, ends at the response time-out, and finds its script again
 * where the server has forgotten it.
 *
 * <p>
 * Thread-safe. The first request blocks while the client connects.
 */
public final class RedisNode {

	private final RedissonClient client;

	private final RedisScripts scripts;

	private final RedisLockOptions options;

	/**
	 * Create a node. Nothing is sent yet.
	 * @param client the node's client
	 * @param namespace prefix of every key
	 * @param responseTimeout time after which an unanswered request fails
	 * @param address the node as messages name it, without credentials
	 */
	public RedisNode(RedissonClient client, String namespace, Duration responseTimeout, String address) {
		this.client = client;
		this.options = new RedisLockOptions(namespace, responseTimeout, 0, Duration.ZERO, address);
		this.scripts = new RedisScripts(client, this.options);
	}

	/**
	 * Run a script.
	 * @param script the script
	 * @param keys its keys
	 * @param args its arguments
	 * @return what the script gave: numbers as {@code Long}, texts as {@code String}.
	 * Never throws
	 */
	public CompletionStage<List<Object>> run(RedisScript script, List<Object> keys, Object... args) {
		return this.scripts.run(script, keys, args);
	}

	/**
	 * The node as messages name it.
	 * @return the address, without credentials
	 */
	public String address() {
		return this.options.server();
	}

	/**
	 * Shut the client down.
	 */
	public void close() {
		this.client.shutdown(0, this.options.responseTimeout().toMillis(), TimeUnit.MILLISECONDS);
	}

	/**
	 * Whether a failure will be the same in a second, and nothing was done.
	 * @param failure the failure of a request
	 * @return {@code false} if the outcome is not known
	 */
	public static boolean isDefinite(Throwable failure) {
		return RedisErrors.definiteCode(failure) != null;
	}

	/**
	 * What a failed request heard.
	 * @param failure the failure of a request
	 * @return such as 'no answer in time', without secrets
	 */
	public static String said(Throwable failure) {
		return RedisErrors.said(failure);
	}

}
