package io.holdfast.lock.backend.redlock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import io.holdfast.lock.backend.redis.RedisScript;
import io.holdfast.lock.support.SchedulingClock;

/**
 * A node that responds to attempts as the test says.
 */
final class ScriptedNode implements NodeClient {

	static final Duration TIMEOUT = Duration.ofSeconds(2);

	static final List<Object> GRANTED = List.of(1L, 7L, 1_000L, 0L, 0L);

	static final List<Object> REJECTED = List.of(0L, 5_000L, 1_000L, "holder", 0L, 1L, 1L);

	private final int number;

	/** The run id of its server. */
	String runId;

	CompletionStage<List<Object>> acquired = new CompletableFuture<>();

	Consumer<String> listener = (message) -> {
	};

	boolean subscribes = true;

	int attempts;

	int arguments;

	int releases;

	/** The owners of which a release removes everything, not only early attempts. */
	final List<Object> ended = new ArrayList<>();

	/** For how long releases let claims keep a position, in milliseconds. */
	final List<Object> positions = new ArrayList<>();

	/** The response to a release. */
	List<Object> released = List.of(1L);

	/** Runs when an attempt is sent. */
	Runnable whenAttempted = () -> {
	};

	/** Runs when a release is sent. */
	Runnable whenReleased = () -> {
	};

	/** Completes when the node responds to releases. */
	CompletionStage<?> releasable = CompletableFuture.completedFuture(1);

	/** Completes when the client is connected. */
	CompletionStage<?> connected = CompletableFuture.completedFuture(1);

	private ScriptedNode(int number) {
		this.number = number;
		this.runId = "run-" + number;
	}

	static List<ScriptedNode> nodes(int count) {
		return IntStream.range(0, count).mapToObj(ScriptedNode::new).toList();
	}

	static RedlockLockBackend backend(List<ScriptedNode> nodes, SchedulingClock clock) {
		return new RedlockLockBackend(List.copyOf(nodes),
				new RedlockLockOptions("test", TIMEOUT, TIMEOUT, 0.01, Duration.ofSeconds(30), true), clock, () -> {
				});
	}

	@Override
	public CompletionStage<List<Object>> run(RedisScript script, List<Object> keys, Object... args) {
		if (script == RedlockScripts.PROBE) {
			return CompletableFuture.completedFuture(List.of(this.runId, "", ""));
		}
		if (script == RedlockScripts.ACQUIRE) {
			this.attempts++;
			this.arguments = args.length;
			this.whenAttempted.run();
			return this.acquired.thenApply(this::vote);
		}
		if (script == RedlockScripts.RELEASE) {
			this.releases++;
			this.whenReleased.run();
			this.positions.add(args[5]);
			if (args[3].equals(MissedRequests.EVERY_ATTEMPT)) {
				this.ended.add(args[2]);
			}
			List<Object> response = this.released;
			return this.releasable.thenApply((nothing) -> response);
		}
		return CompletableFuture.completedFuture(vote(List.of(1L)));
	}

	private List<Object> vote(List<Object> items) {
		List<Object> vote = new ArrayList<>(items);
		vote.add(this.runId);
		return vote;
	}

	@Override
	public CompletionStage<List<Object>> connect(RedisScript script, List<Object> keys, Object... args) {
		return this.connected.thenCompose((nothing) -> run(script, keys, args));
	}

	@Override
	public CompletionStage<?> subscribe(String channel, Consumer<String> listener) {
		this.listener = listener;
		return this.subscribes ? CompletableFuture.completedFuture(1)
				: CompletableFuture.failedFuture(new IllegalStateException("no subscription"));
	}

	@Override
	public boolean isOrdered() {
		return false;
	}

	@Override
	public String address() {
		return "node-" + this.number;
	}

	@Override
	public void close() {
	}

}
