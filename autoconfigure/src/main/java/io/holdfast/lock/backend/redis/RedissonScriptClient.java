package io.holdfast.lock.backend.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.netty.util.concurrent.EventExecutor;
import org.redisson.Redisson;
import org.redisson.api.BatchOptions;
import org.redisson.api.RBatch;
import org.redisson.api.RScript;
import org.redisson.api.RScript.Mode;
import org.redisson.api.RScript.ReturnType;
import org.redisson.api.RScriptAsync;
import org.redisson.api.RTopic;
import org.redisson.api.RedissonClient;
import org.redisson.api.options.OptionalOptions;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;
import org.redisson.config.SubscriptionMode;

import io.holdfast.lock.support.Stages;
import io.holdfast.lock.support.Threads;

/**
 * {@link ScriptClient} based on Redisson. A Redisson client that is not connected yet
 * connects on the first calling thread and blocks every other caller.
 */
public final class RedissonScriptClient implements ScriptClient {

	private final RedissonClient client;

	private final boolean owned;

	private final Duration responseTimeout;

	private final RScript scripts;

	/**
	 * Creates the adapter. Sends no request.
	 * @param client the client
	 * @param owned whether {@link #close()} shuts the client down
	 * @param responseTimeout time after which an unanswered request fails
	 */
	public RedissonScriptClient(RedissonClient client, boolean owned, Duration responseTimeout) {
		this.client = client;
		this.owned = owned;
		this.responseTimeout = responseTimeout;
		// the client must not retry, because only the engine knows whether a retry is
		// wanted
		this.scripts = client.getScript(
				OptionalOptions.defaults().codec(StringCodec.INSTANCE).timeout(responseTimeout).retryAttempts(0));
	}

	@Override
	public CompletionStage<List<Object>> evalSha(RedisScript script, List<Object> keys, Object... args) {
		return Stages.attempt(() -> send(this.scripts, script, keys, args));
	}

	@Override
	public CompletionStage<List<Object>> eval(RedisScript script, List<Object> keys, Object... args) {
		return Stages
			.attempt(() -> this.scripts.evalAsync(Mode.READ_WRITE, script.text(), ReturnType.LIST, keys, args));
	}

	@Override
	public List<CompletionStage<List<Object>>> evalShaAll(RedisScript script, List<Call> calls) {
		List<CompletionStage<List<Object>>> answers = new ArrayList<>(calls.size());
		RBatch batch = this.client.createBatch(batchOptions());
		RScriptAsync pipeline = batch.getScript(StringCodec.INSTANCE);
		for (Call call : calls) {
			answers.add(send(pipeline, script, call.keys(), call.args()));
		}
		batch.executeAsync();
		return answers;
	}

	@Override
	public CompletionStage<Replicated> evalShaReplicated(RedisScript script, Call call, int replicas,
			Duration timeout) {
		return Stages.attempt(() -> {
			RBatch batch = this.client.createBatch(batchOptions().sync(replicas, timeout));
			CompletionStage<List<Object>> answer = send(batch.getScript(StringCodec.INSTANCE), script, call.keys(),
					call.args());
			CompletionStage<Integer> confirmed = batch.executeAsync().thenApply((result) -> result.getSyncedSlaves());
			return answer.thenCompose((value) -> confirmed
				.handle((count, failure) -> new Replicated(value, (failure != null) ? 0 : count, failure)));
		});
	}

	private static CompletionStage<List<Object>> send(RScriptAsync scripts, RedisScript script, List<Object> keys,
			Object[] args) {
		return scripts.evalShaAsync(Mode.READ_WRITE, script.sha1(), ReturnType.LIST, keys, args);
	}

	private BatchOptions batchOptions() {
		return BatchOptions.defaults()
			.responseTimeout(this.responseTimeout.toMillis(), TimeUnit.MILLISECONDS)
			.retryAttempts(0);
	}

	@Override
	public CompletionStage<Subscription> subscribe(String channel, Consumer<String> listener) {
		return Stages.attempt(() -> {
			RTopic topic = topic(channel);
			return topic.addListenerAsync(String.class, (name, message) -> listener.accept(message))
				.thenApply((id) -> () -> Stages.attempt(() -> topic.removeListenerAsync(id)));
		});
	}

	@Override
	public String channelOnServer(String channel) {
		return topic(channel).getChannelNames().get(0);
	}

	private RTopic topic(String channel) {
		return this.client.getTopic(channel, StringCodec.INSTANCE);
	}

	@Override
	public boolean isCounted() {
		Config config = this.client.getConfig();
		return config.isSingleConfig() || (config.isSentinelConfig()
				&& config.useSentinelServers().getSubscriptionMode() == SubscriptionMode.MASTER);
	}

	@Override
	public boolean severalNodes() {
		return this.client.getConfig().isClusterConfig();
	}

	/** Each request may use another connection of the pool. */
	@Override
	public boolean isOrdered() {
		return false;
	}

	@Override
	public boolean answersOn(Thread thread) {
		if (this.client instanceof Redisson redisson) {
			for (EventExecutor loop : redisson.getServiceManager().getGroup()) {
				if (loop.inEventLoop(thread)) {
					return true;
				}
			}
		}
		return false;
	}

	@Override
	public void close() {
		if (this.owned) {
			Threads.close("holdfast-redis-close", this.responseTimeout.multipliedBy(2),
					() -> this.client.shutdown(0, this.responseTimeout.toMillis(), TimeUnit.MILLISECONDS));
		}
	}

	/** Names the library, for messages. */
	@Override
	public String toString() {
		return "Redisson";
	}

}
