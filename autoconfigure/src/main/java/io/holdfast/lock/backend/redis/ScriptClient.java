package io.holdfast.lock.backend.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/**
 * Everything that locks need from a Redis client library: scripts, some of them together,
 * and one channel. Each library has an adapter, and only the adapters use its types.
 *
 * <p>
 * A request is sent once and ends at the response timeout. It fails with an exception of
 * the library, which {@link RedisErrors} recognizes by its name. A method that returns a
 * stage never throws and blocks at most for the first connection. Thread-safe.
 */
public interface ScriptClient {

	/**
	 * Runs a script by its digest.
	 * @param script the script
	 * @param keys its keys, which are in one slot of a Cluster
	 * @param args its arguments
	 * @return the script's result: numbers as {@code Long}, text as {@code String}
	 */
	CompletionStage<List<Object>> evalSha(RedisScript script, List<Object> keys, Object... args);

	/**
	 * Runs a script by its text, after which the server knows its digest.
	 * @param script the script
	 * @param keys its keys, which are in one slot of a Cluster
	 * @param args its arguments
	 * @return the script's result
	 */
	CompletionStage<List<Object>> eval(RedisScript script, List<Object> keys, Object... args);

	/**
	 * Runs a script by its digest several times, in one pipeline.
	 * @param script the script
	 * @param calls the keys and arguments of each run, all on the same server
	 * @return one stage per call, in the same order
	 */
	List<CompletionStage<List<Object>>> evalShaAll(RedisScript script, List<Call> calls);

	/**
	 * Runs a script by its digest and waits until replicas confirm its writes, in one
	 * pipeline: a script cannot wait for replicas.
	 * @param script the script
	 * @param call its keys and arguments
	 * @param replicas number of replicas to wait for
	 * @param timeout longest wait for these replicas
	 * @return the script's result; missing replicas do not fail the stage
	 */
	CompletionStage<Replicated> evalShaReplicated(RedisScript script, Call call, int replicas, Duration timeout);

	/**
	 * Subscribes to a channel. After a lost connection, the client subscribes again.
	 * @param channel the channel
	 * @param listener receives the messages, on a thread of the client
	 * @return completes when this client is subscribed
	 */
	CompletionStage<Subscription> subscribe(String channel, Consumer<String> listener);

	/**
	 * Returns the name of a channel on the server, to which scripts publish. A client may
	 * map names.
	 * @param channel the name for {@link #subscribe}
	 * @return the name on the server
	 */
	String channelOnServer(String channel);

	/**
	 * Whether the client subscribes at the primary. PUBLISH there does not count
	 * subscribers of a replica, nor on a Cluster those of another node.
	 * @return {@code true} if PUBLISH counts this client whenever it is subscribed
	 */
	boolean isCounted();

	/**
	 * Whether keys are spread over nodes that can fail independently.
	 * @return {@code true} on a Cluster
	 */
	boolean severalNodes();

	/**
	 * Returns whether scripts reach the server in the order in which they are sent,
	 * unless a connection breaks.
	 * @return whether they are ordered
	 */
	boolean isOrdered();

	/**
	 * Whether a thread delivers the responses of this client, so that blocking it would
	 * delay them.
	 * @param thread any thread
	 * @return {@code false} also for a thread that the client has not used yet
	 */
	boolean answersOn(Thread thread);

	/**
	 * Disconnects, unless the application owns the connections. Blocks for the response
	 * timeout at most.
	 */
	void close();

	/**
	 * Keys and arguments of one run of a script.
	 *
	 * @param keys the keys, which are in one slot of a Cluster
	 * @param args the arguments
	 */
	record Call(List<Object> keys, Object... args) {
	}

	/**
	 * A result and the number of replicas that have it.
	 *
	 * @param value the script's result
	 * @param replicas number of replicas that confirmed
	 * @param failure why the replicas could not be asked, or {@code null}
	 */
	record Replicated(List<Object> value, int replicas, @Nullable Throwable failure) {
	}

	/** A channel that this client listens on. */
	interface Subscription {

		/**
		 * Unsubscribes.
		 * @return completes when the attempt has ended; never throws
		 */
		CompletionStage<?> end();

	}

}
