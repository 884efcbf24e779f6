package io.holdfast.lock.backend.redis;

import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.holdfast.lock.backend.redis.ScriptClient.Call;
import io.holdfast.lock.backend.redis.ScriptClient.Replicated;
import io.holdfast.lock.support.Batches;

/**
 * Runs scripts by their digests. Sends the text if the server does not know a digest:
 * after a flush of its cache, a restart or a failover.
 */
final class RedisScripts {

	/** Maximum number of renewals that share one pipeline, and so one timeout. */
	private static final int PIPELINE = 256;

	private final ScriptClient client;

	private final RedisLockOptions options;

	private final boolean severalNodes;

	RedisScripts(ScriptClient client, RedisLockOptions options) {
		this.client = client;
		this.options = options;
		this.severalNodes = client.severalNodes();
	}

	/**
	 * Whether locks are spread over nodes that can fail independently.
	 */
	boolean severalNodes() {
		return this.severalNodes;
	}

	/**
	 * Runs a script on one lock.
	 * @return the script's result; fails if there is none. Never throws
	 */
	CompletionStage<List<Object>> run(RedisScript script, RedisKeys keys, Object... args) {
		return run(script, keys.asList(), args);
	}

	/**
	 * Runs a script on any keys. Loading the script first is not enough, because another
	 * node than the client expects may run it.
	 * @return the script's result; fails if there is none. Never throws
	 */
	CompletionStage<List<Object>> run(RedisScript script, List<Object> keys, Object... args) {
		return ifUnknown(this.client.evalSha(script, keys, args), () -> this.client.eval(script, keys, args));
	}

	/**
	 * Runs a script on one lock and waits for replicas to confirm its writes.
	 */
	CompletionStage<Replicated> runReplicated(RedisScript script, Call call) {
		// Running a script twice is safe. In a pipeline, a client with a script cache
		// would send the digest again and always treat it as known
		return ifUnknown(sendReplicated(script, call),
				() -> run(script, call.keys(), call.args()).thenCompose((known) -> sendReplicated(script, call)));
	}

	private CompletionStage<Replicated> sendReplicated(RedisScript script, Call call) {
		return this.client.evalShaReplicated(script, call, this.options.waitReplicas(),
				this.options.waitReplicasTimeout());
	}

	/**
	 * Runs a script on many locks, in few pipelines if they share a node. A pipeline over
	 * several nodes fails as a whole when one of them fails, so there each request is
	 * sent individually.
	 * @return one stage per call, in the same order
	 */
	List<CompletionStage<List<Object>>> runAll(RedisScript script, List<Call> calls) {
		if (this.severalNodes) {
			return calls.stream().map((call) -> run(script, call.keys(), call.args())).toList();
		}
		return Batches.of(calls, PIPELINE).stream().flatMap((batch) -> pipeline(script, batch)).toList();
	}

	/**
	 * Retries each request individually if the server does not know the digest. In that
	 * case no request of the pipeline has run, and the first retry sends the text.
	 */
	private Stream<CompletionStage<List<Object>>> pipeline(RedisScript script, List<Call> calls) {
		List<CompletionStage<List<Object>>> answers = this.client.evalShaAll(script, calls);
		return IntStream.range(0, calls.size()).mapToObj((i) -> {
			Call call = calls.get(i);
			return ifUnknown(answers.get(i), () -> run(script, call.keys(), call.args()));
		});
	}

	/** Sends another request if the server does not know the script. */
	private static <T> CompletionStage<T> ifUnknown(CompletionStage<T> answer, Supplier<CompletionStage<T>> other) {
		return answer.handle(
				(value, failure) -> (failure != null && RedisErrors.isScriptUnknown(failure)) ? other.get() : answer)
			.thenCompose(Function.identity());
	}

}
