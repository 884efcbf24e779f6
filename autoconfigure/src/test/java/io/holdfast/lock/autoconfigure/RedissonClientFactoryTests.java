package io.holdfast.lock.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.flush.FlushConsolidationHandler;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.autoconfigure.RedisClients.Settings;
import io.holdfast.lock.backend.redis.RedisScript;
import io.holdfast.lock.backend.redis.ScriptClient;
import io.holdfast.lock.test.server.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

class RedissonClientFactoryTests {

	private static final int REQUESTS = 50;

	private static final RedisScript COUNT = RedisScript.load(RedisScript.class, "count");

	private static final RedisLogin NOBODY = new RedisLogin(null, null);

	@AutoClose
	private final RedisServer server = RedisServer.started();

	@Test
	void requestsInProgressShareAConnection() throws Exception {
		assertThat(connectionsOfPausedServer(0)).isEqualTo(1);
	}

	@Test
	void requestsThatWaitForReplicasHaveTheirOwnConnections() throws Exception {
		assertThat(connectionsOfPausedServer(1)).isGreaterThan(1);
	}

	@Test
	void timeoutMayBeLongerThanRedissonCanCount() throws Exception {
		Duration timeout = Duration.ofDays(30);
		ScriptClient client = new RedissonClientFactory(timeout, timeout, 0)
			.standalone("127.0.0.1:" + this.server.port(), new Settings(NOBODY, 0, null, "a test"), false)
			.client();
		try {
			assertThat(client.eval(COUNT, List.of("number")).toCompletableFuture().get(10, TimeUnit.SECONDS))
				.isNotNull();
		}
		finally {
			client.close();
		}
	}

	@Test
	void requestsAreWrittenTogether() {
		EmbeddedChannel channel = new EmbeddedChannel();
		factory(0).config(NOBODY, null).getNettyHook().afterChannelInitialization(channel);
		assertThat(channel.pipeline().first()).isInstanceOf(FlushConsolidationHandler.class);
		channel.finishAndReleaseAll();
	}

	/**
	 * Returns how many connections requests need that all wait for the server, besides
	 * the one for subscriptions.
	 */
	private long connectionsOfPausedServer(int waitReplicas) throws Exception {
		ScriptClient client = factory(waitReplicas)
			.standalone("127.0.0.1:" + this.server.port(), new Settings(NOBODY, 0, null, "a test"), false)
			.client();
		try {
			client.eval(COUNT, List.of("number")).toCompletableFuture().get(10, TimeUnit.SECONDS);
			this.server.pause();
			List<CompletionStage<?>> answers = new ArrayList<>();
			try {
				for (int i = 0; i < REQUESTS; i++) {
					answers.add(client.evalSha(COUNT, List.of("number")));
				}
			}
			finally {
				this.server.resume();
			}
			for (CompletionStage<?> answer : answers) {
				answer.toCompletableFuture().get(10, TimeUnit.SECONDS);
			}
			return this.server.ask("client", "list", "type", "normal")
				.lines()
				.filter((line) -> line.contains("name=holdfast"))
				.count() - 1;
		}
		finally {
			client.close();
		}
	}

	private static RedissonClientFactory factory(int waitReplicas) {
		return new RedissonClientFactory(Duration.ofSeconds(10), Duration.ofSeconds(10), waitReplicas);
	}

}
