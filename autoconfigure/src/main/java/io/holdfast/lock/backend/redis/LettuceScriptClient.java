package io.holdfast.lock.backend.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;

import io.holdfast.lock.support.SharedAttempt;
import io.holdfast.lock.support.Stages;

/**
 * {@link ScriptClient} based on Lettuce, with connections of its own: a blocking command
 * of the application would delay renewals. Requests share one connection, renewals
 * another, and the channel has a third. {@code WAIT} blocks its connection, so requests
 * that wait for replicas have more of them.
 */
public final class LettuceScriptClient implements ScriptClient {

	/** Number of connections for requests that wait for replicas. */
	private static final int WAITING_LANES = 32;

	/** A silent connection delays all requests that share it. */
	private static final Duration SILENCE = Duration.ofSeconds(3);

	private final Duration responseTimeout;

	private final boolean cluster;

	private final LettuceChannels channels;

	private final LettuceConnections connections;

	private final List<LettuceLane> lanes;

	private final LettuceLane renewals;

	private final LettucePipelines pipelines = new LettucePipelines();

	private final SharedAttempt<StatefulRedisPubSubConnection<String, String>> channel;

	private volatile boolean closed;

	/**
	 * Creates the adapter and its client. Sends no request.
	 * @param servers the servers
	 * @param connectionTimeout longest wait for a connection
	 * @param responseTimeout time after which an unanswered request fails
	 * @param waitTimeout longest wait for replicas, or zero if requests do not wait for
	 * them
	 */
	public LettuceScriptClient(LettuceServers servers, Duration connectionTimeout, Duration responseTimeout,
			Duration waitTimeout) {
		this.responseTimeout = responseTimeout;
		this.cluster = servers.cluster();
		this.channels = new LettuceChannels(servers.resources(), SILENCE.plus(waitTimeout));
		this.connections = LettuceConnections.to(servers, this.channels.resources(),
				new LettuceOptions(servers.options(), connectionTimeout, responseTimeout), connectionTimeout);
		this.lanes = Stream.generate(this::lane).limit(waitTimeout.isZero() ? 1 : WAITING_LANES).toList();
		this.renewals = lane();
		this.channel = new SharedAttempt<>(() -> open(this.connections::listen).thenApply(this::checked));
	}

	private StatefulRedisPubSubConnection<String, String> checked(
			StatefulRedisPubSubConnection<String, String> connection) {
		new LettuceChannelCheck(connection, () -> this.closed).schedule();
		return connection;
	}

	private LettuceLane lane() {
		return new LettuceLane(() -> open(this.connections::connect), this::reconnectChannel);
	}

	/**
	 * Makes the server end the connection of the channel, so that Lettuce connects and
	 * subscribes again. On a replica, PUBLISH of the primary does not count it.
	 */
	private void reconnectChannel() {
		if (!this.cluster && this.channel.hasSucceeded()) {
			this.channel.get().thenAccept((connection) -> connection.async().quit());
		}
	}

	private <T> CompletionStage<T> open(Supplier<? extends CompletionStage<? extends T>> connect) {
		return this.closed ? CompletableFuture.failedStage(new ClientClosedException())
				: connect.get().thenApply(Function.identity());
	}

	@Override
	public CompletionStage<List<Object>> evalSha(RedisScript script, List<Object> keys, Object... args) {
		return send(freeLane(), (connection) -> run(connection.commands(), script, keys, args));
	}

	@Override
	public CompletionStage<List<Object>> eval(RedisScript script, List<Object> keys, Object... args) {
		return send(freeLane(), (connection) -> connection.commands()
			.eval(script.text(), ScriptOutputType.MULTI, texts(keys.toArray()), texts(args)));
	}

	private static CompletionStage<List<Object>> run(RedisClusterAsyncCommands<String, String> commands,
			RedisScript script, List<Object> keys, Object... args) {
		return commands.evalsha(script.sha1(), ScriptOutputType.MULTI, texts(keys.toArray()), texts(args));
	}

	private static String[] texts(Object[] values) {
		String[] texts = new String[values.length];
		for (int i = 0; i < values.length; i++) {
			texts[i] = values[i].toString();
		}
		return texts;
	}

	/** Returns the first of the least used lanes, so that few are opened. */
	private LettuceLane freeLane() {
		return (this.lanes.size() == 1) ? this.lanes.get(0)
				: this.lanes.stream().min(Comparator.comparingInt(LettuceLane::inProgress)).orElseThrow();
	}

	private <T> CompletionStage<T> send(LettuceLane lane,
			Function<LettuceConnection, ? extends CompletionStage<T>> request) {
		return this.closed ? CompletableFuture.failedStage(new ClientClosedException())
				: lane.send(request, this::openLane);
	}

	/**
	 * Returns a lane for a request whose own cannot connect, as after a change of the
	 * password: an open connection stays valid.
	 */
	private Optional<LettuceLane> openLane() {
		return Stream.concat(this.lanes.stream(), Stream.of(this.renewals))
			.filter(LettuceLane::isOpen)
			.min(Comparator.comparingInt(LettuceLane::inProgress));
	}

	@Override
	public List<CompletionStage<List<Object>>> evalShaAll(RedisScript script, List<Call> calls) {
		List<CompletableFuture<List<Object>>> answers = new ArrayList<>(calls.size());
		calls.forEach((call) -> answers.add(new CompletableFuture<>()));
		this.pipelines.send(() -> send(this.renewals, (connection) -> {
			for (int i = 0; i < answers.size(); i++) {
				Call call = calls.get(i);
				settle(answers.get(i), run(connection.commands(), script, call.keys(), call.args()));
			}
			// fails as its requests do, so that the lane leaves a replica
			return CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new));
		}).exceptionally((failure) -> {
			answers.forEach((answer) -> answer.completeExceptionally(failure));
			return null;
		}));
		return List.copyOf(answers);
	}

	private static void settle(CompletableFuture<List<Object>> answer, CompletionStage<List<Object>> response) {
		response.whenComplete((value, failure) -> Stages.settle(answer, value, failure));
	}

	@Override
	public CompletionStage<Replicated> evalShaReplicated(RedisScript script, Call call, int replicas,
			Duration timeout) {
		return send(freeLane(),
				(connection) -> connection.masters().apply(call.keys().get(0).toString()).thenCompose((master) -> {
					CompletionStage<List<Object>> answer = run(master, script, call.keys(), call.args());
					CompletionStage<Long> confirmed = master.waitForReplication(replicas, timeout.toMillis());
					answer.whenComplete((value, failure) -> {
						if (failure != null && RedisErrors.isMoved(failure)) {
							connection.readTopology().run();
						}
					});
					return answer.thenCompose((value) -> confirmed.handle((count, failure) -> new Replicated(value,
							(failure != null) ? 0 : count.intValue(), failure)));
				}));
	}

	@Override
	public CompletionStage<Subscription> subscribe(String name, Consumer<String> listener) {
		return this.channel.get().thenCompose((connection) -> {
			RedisPubSubAdapter<String, String> adapter = new RedisPubSubAdapter<>() {

				@Override
				public void message(String from, String message) {
					if (from.equals(name)) {
						listener.accept(message);
					}
				}

			};
			LettuceResubscription reconnection = new LettuceResubscription(connection, name, () -> this.closed);
			connection.addListener(adapter);
			return connection.async().subscribe(name).<Subscription>thenApply((nothing) -> {
				connection.addListener(reconnection);
				return () -> {
					connection.removeListener(reconnection);
					reconnection.end();
					connection.removeListener(adapter);
					return connection.async().unsubscribe(name);
				};
			}).whenComplete((subscription, failure) -> {
				if (failure != null) {
					connection.removeListener(adapter);
				}
			});
		});
	}

	@Override
	public String channelOnServer(String name) {
		return name;
	}

	@Override
	public boolean isCounted() {
		return !this.cluster;
	}

	@Override
	public boolean severalNodes() {
		return this.cluster;
	}

	/** A Cluster may redirect a request behind the next one. */
	@Override
	public boolean isOrdered() {
		return this.lanes.size() == 1 && !this.cluster;
	}

	@Override
	public boolean answersOn(Thread thread) {
		return this.channels.answersOn(thread);
	}

	@Override
	public void close() {
		this.closed = true;
		this.connections.close(this.responseTimeout);
	}

	/** Names the library, for messages. */
	@Override
	public String toString() {
		return "Lettuce";
	}

}
