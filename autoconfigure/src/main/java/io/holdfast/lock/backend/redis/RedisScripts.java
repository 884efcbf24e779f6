package io.holdfast.lock.backend.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;

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

/**
 * Runs our scripts by their digests, and loads one again where the server has forgotten
 * it: its cache was flushed, it has restarted, or another has taken over.
 *
 * <p>
 * The client must not send anything again by itself. Whether that is wanted only the
 * engine knows, so every request has one attempt and the response time-out as its end.
 */
final class RedisScripts {

	/** So many renewals at most share one pipeline, and so one time-out. */
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
	 * Whether locks are spread over nodes that can fail one by one.
	 */
	boolean severalNodes() {
		return this.severalNodes;
	}

	/**
	 * Run a script on one lock.
	 * @return what the script gave; fails if it gave nothing. Never throws
	 */
	CompletionStage<List<Object>> run(RedisScript script, RedisKeys keys, Object... args) {
		return run(script, keys.asList(), args);
	}

	/**
	 * Run a script on any keys.
	 * @return what the script gave; fails if it gave nothing. Never throws
	 */
	CompletionStage<List<Object>> run(RedisScript script, List<Object> keys, Object... args) {
		return orByText(caught(() -> send(this.single, script, keys, args)), script, keys, args);
	}

	/**
	 * Run a script on one lock and have the replicas confirm what it wrote, in the same
	 * pipeline: a script cannot wait for them itself.
	 */
	CompletionStage<Replicated> runReplicated(RedisScript script, RedisKeys keys, Object... args) {
		CompletionStage<Replicated> first = caught(() -> sendReplicated(script, keys, args));
		return first.handle((value, failure) -> {
			if (failure != null && RedisErrors.isScriptUnknown(failure)) {
				// Every script may run twice. Within a pipeline a client that caches
				// scripts would
				// send the digest again, and believe for ever that the server knows it
				return run(script, keys, args).thenCompose((known) -> caught(() -> sendReplicated(script, keys, args)));
			}
			return first;
		}).thenCompose(Function.identity());
	}

	/**
	 * Run a script on many locks, in few pipelines where they share a node. A pipeline
	 * over several nodes fails as a whole when one of them does, so there every request
	 * goes by itself.
	 * @return one future for each call, in the same order
	 */
	List<CompletionStage<List<Object>>> runAll(RedisScript script, List<Call> calls) {
		if (this.severalNodes) {
			return calls.stream().map((call) -> run(script, call.keys(), call.args())).toList();
		}
		List<CompletionStage<List<Object>>> answers = new ArrayList<>(calls.size());
		for (int from = 0; from < calls.size(); from += PIPELINE) {
			answers.addAll(pipeline(script, calls.subList(from, Math.min(from + PIPELINE, calls.size()))));
		}
		return answers;
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
	 * No request of a pipeline runs where the digest is not known: then they are asked
	 * again one by one, and the first brings the text.
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
	 * Where the server does not know the digest, the text is run. The node that runs it
	 * may be another than the client thinks, so it is not enough to load the text first.
	 */
	private CompletionStage<List<Object>> orByText(CompletionStage<List<Object>> answer, RedisScript script,
			List<Object> keys, Object[] args) {
		return answer.handle((value, failure) -> {
			if (failure != null && RedisErrors.isScriptUnknown(failure)) {
				return caught(() -> this.single.<List<Object>>evalAsync(Mode.READ_WRITE, script.text(), ReturnType.LIST,
						keys, args));
			}
			return answer;
		}).thenCompose(Function.identity());
	}

	private static <T> CompletionStage<T> caught(Supplier<? extends CompletionStage<T>> attempt) {
		try {
			return attempt.get();
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	/**
	 * One request of many.
	 *
	 * @param keys the lock's keys
	 * @param args the script's arguments
	 */
	record Call(RedisKeys keys, Object... args) {
	}

	/**
	 * An answer and how many replicas have it.
	 *
	 * @param value what the script gave
	 * @param replicas how many replicas confirmed
	 * @param failure why they could not be asked, or {@code null}
	 */
	record Replicated(List<Object> value, int replicas, @Nullable Throwable failure) {
	}

}
