package io.holdfast.lock.backend.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;
import org.redisson.api.BatchOptions;
import org.redisson.api.RBatch;
import org.redisson.api.RScript;
import org.redisson.api.RScript.Mode;
import org.redisson.api.RScript.ReturnType;
import org.redisson.api.RScriptAsync;
import org.redisson.api.RedissonClient;
import org.redisson.api.options.OptionalOptions;
import org.redisson.client.codec.StringCodec;

import io.holdfast.lock.support.Batches;
import io.holdfast.lock.support.Stages;

/**
 * Runs scripts by their digests. Sends the text if the server does not know a digest:
 * after a flush of its cache, a restart or a failover.
 *
 * <p>
 * The client must not retry, because only the engine knows whether a retry is wanted.
 * Every request is therefore sent once and ends at the response timeout.
 */
final class RedisScripts {

	/** Maximum number of renewals that share one pipeline, and so one timeout. */
	private static final int PIPELINE = 256;

	private final RedissonClient client;

	private final RedisLockOptions options;

	private final RScript single;

	private final boolean severalNodes;

	RedisScripts(RedissonClient client, RedisLockOptions options) {
		this.client = client;
		this.options = options;
		this.severalNodes = client.getConfig().isClusterConfig();
		this.single = client.getScript(OptionalOptions.defaults()
			.codec(StringCodec.INSTANCE)
			.timeout(options.responseTimeout())
			.retryAttempts(0));
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
	 * Runs a script on any keys.
	 * @return the script's result; fails if there is none. Never throws
	 */
	CompletionStage<List<Object>> run(RedisScript script, List<Object> keys, Object... args) {
		return orByText(Stages.attempt(() -> send(this.single, script, keys, args)), script, keys, args);
	}

	/**
	 * Runs a script on one lock and waits for replicas to confirm its writes, in the same
	 * pipeline: a script cannot wait for replicas.
	 */
	CompletionStage<Replicated> runReplicated(RedisScript script, RedisKeys keys, Object... args) {
		CompletionStage<Replicated> first = Stages.attempt(() -> sendReplicated(script, keys, args));
		return first.handle((value, failure) -> {
			if (failure != null && RedisErrors.isScriptUnknown(failure)) {
				// Running a script twice is safe. In a pipeline, a client with a script
				// cache would send the digest again and always treat it as known
				return run(script, keys, args)
					.thenCompose((known) -> Stages.attempt(() -> sendReplicated(script, keys, args)));
			}
			return first;
		}).thenCompose(Function.identity());
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
		return Batches.of(calls, PIPELINE).stream().flatMap((batch) -> pipeline(script, batch).stream()).toList();
	}

	private List<CompletionStage<List<Object>>> pipeline(RedisScript script, List<Call> calls) {
		List<CompletionStage<List<Object>>> answers = new ArrayList<>(calls.size());
		RBatch batch = this.client.createBatch(batchOptions());
		RScriptAsync scripts = batch.getScript(StringCodec.INSTANCE);
		for (Call call : calls) {
			answers.add(orAlone(send(scripts, script, call.keys().asList(), call.args()), script, call));
		}
		batch.executeAsync();
		return answers;
	}

	/**
	 * Retries each request individually if the server does not know the digest. In that
	 * case no request of the pipeline has run, and the first retry sends the text.
	 */
	private CompletionStage<List<Object>> orAlone(CompletionStage<List<Object>> answer, RedisScript script, Call call) {
		return answer.handle((value, failure) -> {
			if (failure != null && RedisErrors.isScriptUnknown(failure)) {
				return run(script, call.keys(), call.args());
			}
			return answer;
		}).thenCompose(Function.identity());
	}

	private CompletionStage<Replicated> sendReplicated(RedisScript script, RedisKeys keys, Object[] args) {
		RBatch batch = this.client
			.createBatch(batchOptions().sync(this.options.waitReplicas(), this.options.waitReplicasTimeout()));
		CompletionStage<List<Object>> answer = send(batch.getScript(StringCodec.INSTANCE), script, keys.asList(), args);
		CompletionStage<Integer> replicas = batch.executeAsync().thenApply((result) -> result.getSyncedSlaves());
		return answer.thenCompose((value) -> replicas
			.handle((count, failure) -> new Replicated(value, (failure != null) ? 0 : count, failure)));
	}

	private BatchOptions batchOptions() {
		Duration timeout = this.options.responseTimeout();
		return BatchOptions.defaults().responseTimeout(timeout.toMillis(), TimeUnit.MILLISECONDS).retryAttempts(0);
	}

	private static CompletionStage<List<Object>> send(RScriptAsync scripts, RedisScript script, List<Object> keys,
			Object[] args) {
		return scripts.evalShaAsync(Mode.READ_WRITE, script.sha1(), ReturnType.LIST, keys, args);
	}

	/**
	 * Sends the text if the server does not know the digest. Loading the script first is
	 * not enough, because another node than the client expects may run it.
	 */
	private CompletionStage<List<Object>> orByText(CompletionStage<List<Object>> answer, RedisScript script,
			List<Object> keys, Object[] args) {
		return answer.handle((value, failure) -> {
			if (failure != null && RedisErrors.isScriptUnknown(failure)) {
				return Stages.attempt(() -> this.single.<List<Object>>evalAsync(Mode.READ_WRITE, script.text(),
						ReturnType.LIST, keys, args));
			}
			return answer;
		}).thenCompose(Function.identity());
	}

	/**
	 * One of many requests.
	 *
	 * @param keys the lock's keys
	 * @param args the script's arguments
	 */
	record Call(RedisKeys keys, Object... args) {
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

}
