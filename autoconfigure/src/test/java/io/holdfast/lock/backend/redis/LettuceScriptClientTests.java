package io.holdfast.lock.backend.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisURI;
import io.lettuce.core.protocol.ProtocolVersion;
import io.netty.channel.embedded.EmbeddedChannel;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import io.holdfast.lock.backend.redis.LettuceChannels.SilentChannelHandler;
import io.holdfast.lock.backend.redis.ScriptClient.Call;
import io.holdfast.lock.support.Sha1;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.RedisServer;
import io.holdfast.lock.test.server.ServerProcess;
import io.holdfast.lock.test.server.TcpProxy;

import static io.holdfast.lock.backend.redis.TestRedis.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for what {@link LettuceScriptClient} changes about Lettuce.
 */
class LettuceScriptClientTests {

	private static final List<Object> KEYS = List.of("number");

	/** Counts its runs. */
	private static final RedisScript COUNT = RedisScript.load(LettuceScriptClientTests.class, "count");

	@AutoClose
	private final RedisServer server = RedisServer.started();

	@AutoClose
	private final TcpProxy wire = TcpProxy.to(this.server.port());

	@AutoClose("close")
	private final ScriptClient client = RedisLibrary.LETTUCE
		.client("redis://" + ServerProcess.HOST + ":" + this.wire.port(), TestRedis.options(0));

	@Test
	void requestWhoseConnectionIsLostIsNotSentAgain() throws Exception {
		get(this.client.eval(COUNT, KEYS));
		this.wire.loseNextReplyTo("number");
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> get(this.client.evalSha(COUNT, KEYS)));
		assertThat(get(this.client.evalSha(COUNT, KEYS))).containsExactly(3L);
	}

	/** A wrong length would shift the rest of the request. */
	@ParameterizedTest
	@ValueSource(strings = { "", "a:b", "Käse", "日本", "\uD83D\uDD12 lock", "half of \uD83D" })
	void everyTextArrivesInUtf8(String text) throws Exception {
		String echo = "return {KEYS[1], ARGV[1], ARGV[2]}";
		String arrived = new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
		assertThat(get(this.client.eval(new RedisScript(echo, Sha1.hex(echo)), List.of(text), text, "end")))
			.containsExactly(arrived, arrived, "end");
	}

	/**
	 * Redis ends the connection of a subscriber that may not use its channel any more.
	 */
	@Test
	void channelThatIsPermittedAgainIsSubscribedAgain() throws Exception {
		BlockingQueue<String> messages = new LinkedBlockingQueue<>();
		get(this.client.subscribe("news", messages::add));
		this.server.ask("acl", "setuser", "default", "resetchannels");
		Awaitility.await("a rejected subscription").until(() -> this.server.ask("acl", "log").contains("news"));
		this.server.ask("acl", "setuser", "default", "&*");
		Awaitility.await("a subscription").until(() -> this.server.ask("pubsub", "channels").contains("news"));
		this.server.ask("publish", "news", "text");
		assertThat(messages.poll(5, TimeUnit.SECONDS)).isEqualTo("text");
	}

	/** It is read together with the confirmation, before this client knows of that. */
	@Test
	void messageRightAfterTheSubscriptionIsReceived() throws Exception {
		get(this.client.subscribe("other", (message) -> {
		}));
		BlockingQueue<String> messages = new LinkedBlockingQueue<>();
		this.wire.holdReplies();
		CompletionStage<?> subscription = this.client.subscribe("news", messages::add);
		Awaitility.await("a subscription").until(() -> this.server.ask("pubsub", "channels").contains("news"));
		this.server.ask("publish", "news", "text");
		this.wire.flow();
		assertThat(messages.poll(5, TimeUnit.SECONDS)).isEqualTo("text");
		get(subscription);
	}

	/** Redis accepts the connection, and rejects what is sent on it. */
	@Test
	void connectionToABusyServerIsSubscribedAgain() throws Exception {
		get(this.client.subscribe("news", (message) -> {
		}));
		this.server.ask("config", "set", "busy-reply-threshold", "1");
		CompletableFuture<String> busy = CompletableFuture
			.supplyAsync(() -> this.server.ask("eval", "while true do end", "0"));
		Awaitility.await("a busy server").until(() -> this.server.ask("ping").contains("BUSY"));
		CountDownLatch rejected = new CountDownLatch(1);
		// the first response on the new connection is that to HELLO
		this.wire.afterNextReply(() -> this.wire.afterNextReply(rejected::countDown));
		this.wire.cut();
		assertThat(rejected.await(10, TimeUnit.SECONDS)).isTrue();
		this.server.ask("script", "kill");
		busy.join();
		Awaitility.await("a subscription").until(() -> this.server.ask("pubsub", "channels").contains("news"));
	}

	/** The server is slow, and the client no longer waits for the rejection. */
	@Slow
	@Test
	void subscriptionThatIsRejectedLateIsRepeated() throws Exception {
		get(this.client.subscribe("news", (message) -> {
		}));
		CountDownLatch held = new CountDownLatch(1);
		CompletableFuture<Void> slow = new CompletableFuture<>();
		this.wire.holdNext("news", () -> {
			held.countDown();
			slow.join();
		});
		this.wire.cut();
		assertThat(held.await(10, TimeUnit.SECONDS)).isTrue();
		this.server.ask("acl", "setuser", "default", "resetchannels");
		// what is sent on this connection later times out later
		for (int i = 0; i < 2; i++) {
			assertThatExceptionOfType(ExecutionException.class)
				.isThrownBy(() -> get(this.client.subscribe("other", (message) -> {
				})));
		}
		slow.complete(null);
		Awaitility.await("a rejected subscription").until(() -> this.server.ask("acl", "log").contains("news"));
		this.server.ask("acl", "setuser", "default", "&*");
		Awaitility.await("a subscription").until(() -> this.server.ask("pubsub", "channels").contains("news"));
	}

	/**
	 * The operating system of such a server still answers the probes of TCP, so the
	 * connection stays open.
	 */
	@Slow
	@ParameterizedTest
	@EnumSource(names = { "RESP2", "RESP3" })
	void channelLeavesAServerThatHangs(ProtocolVersion protocol) throws Exception {
		BlockingQueue<String> messages = new LinkedBlockingQueue<>();
		ScriptClient listener = clientOf(protocol);
		try (RedisServer successor = RedisServer.started()) {
			get(listener.subscribe("news", messages::add));
			Awaitility.await("a check of the channel")
				.atMost(Duration.ofSeconds(15))
				.until(() -> this.server.ask("client", "list", "type", "pubsub").contains("cmd=ping"));
			this.server.ask("publish", "news", "text");
			assertThat(messages.poll(5, TimeUnit.SECONDS)).isEqualTo("text");
			assertThat(this.wire.connections()).as("the channel stays").isOne();
			this.wire.forwardNewTo(successor.port());
			this.server.pause();
			Awaitility.await("a subscription")
				.atMost(Duration.ofSeconds(30))
				.until(() -> successor.ask("pubsub", "channels").contains("news"));
		}
		finally {
			listener.close();
		}
	}

	private ScriptClient clientOf(ProtocolVersion protocol) {
		RedisURI uri = RedisURI.create(ServerProcess.HOST, this.wire.port());
		ClientOptions options = ClientOptions.builder().protocolVersion(protocol).build();
		return new LettuceScriptClient(new LettuceServers(List.of(uri), false, null, options), Duration.ofSeconds(2),
				Duration.ofSeconds(1), Duration.ZERO);
	}

	@Test
	void failureNamesItsCauseWhileTheServerIsAway() throws Exception {
		get(this.client.eval(COUNT, KEYS));
		this.server.stop();
		Awaitility.await()
			.untilAsserted(() -> assertThatExceptionOfType(ExecutionException.class)
				.isThrownBy(() -> get(this.client.evalSha(COUNT, KEYS)))
				.satisfies((failure) -> assertThat(RedisErrors.describe(failure)).doesNotContain("rejected")));
		this.server.start();
		Awaitility.await().ignoreExceptions().until(() -> get(this.client.eval(COUNT, KEYS)).size() == 1);
	}

	@Test
	void thousandsOfPipelinesAreSentAFewAtATime() throws Exception {
		get(this.client.eval(COUNT, KEYS));
		List<CompletionStage<List<Object>>> answers = new ArrayList<>();
		for (int i = 0; i < 2_000; i++) {
			answers.addAll(this.client.evalShaAll(COUNT, List.of(new Call(KEYS), new Call(KEYS))));
		}
		assertThat(get(answers.get(3_999))).containsExactly(4_001L);
		this.client.close();
		for (int i = 0; i < 2_000; i++) {
			answers.addAll(this.client.evalShaAll(COUNT, List.of(new Call(KEYS))));
		}
		assertThat(answers.subList(4_000, 6_000))
			.allMatch((answer) -> answer.toCompletableFuture().isCompletedExceptionally());
		assertThat(RedisErrors.definiteCode(failure(answers.get(5_999)))).isEqualTo("SHUTDOWN");
	}

	/** The first renewal opens a connection, but the one that requests use is open. */
	@Test
	void leaseIsRenewedAfterThePasswordWasReplaced() throws Exception {
		this.server.ask("acl", "setuser", "locks", "on", ">first", "~*", "&*", "+@all");
		ScriptClient login = RedisLibrary.LETTUCE
			.client("redis://locks:first@" + ServerProcess.HOST + ":" + this.server.port(), TestRedis.options(0));
		try {
			get(login.eval(COUNT, KEYS));
			this.server.ask("acl", "setuser", "locks", "resetpass", ">second");
			assertThat(get(login.evalShaAll(COUNT, List.of(new Call(KEYS))).get(0))).containsExactly(2L);
		}
		finally {
			login.close();
		}
	}

	/** A request that waits for replicas keeps the connection that is open. */
	@Test
	void requestsShareAConnectionAfterThePasswordWasReplaced() throws Exception {
		this.server.ask("acl", "setuser", "locks", "on", ">first", "~*", "&*", "+@all");
		ScriptClient login = RedisLibrary.LETTUCE
			.client("redis://locks:first@" + ServerProcess.HOST + ":" + this.server.port(), TestRedis.options(1));
		try {
			get(login.eval(COUNT, KEYS));
			this.server.ask("acl", "setuser", "locks", "resetpass", ">second");
			CompletionStage<?> waiting = login.evalShaReplicated(COUNT, new Call(KEYS), 1, Duration.ofMillis(200));
			assertThat(get(login.evalSha(COUNT, KEYS))).containsExactly(3L);
			get(waiting);
		}
		finally {
			login.close();
		}
	}

	private static Throwable failure(CompletionStage<?> stage) {
		return stage.<Throwable>handle((value, failure) -> failure).toCompletableFuture().join();
	}

	@Test
	void channelThatStaysSilentAfterARequestIsClosed() {
		EmbeddedChannel channel = new EmbeddedChannel(new SilentChannelHandler(Duration.ofSeconds(3)));
		pass(channel, 10);
		channel.writeOutbound("request");
		pass(channel, 2);
		channel.writeInbound("response");
		pass(channel, 10);
		assertThat(channel.isOpen()).as("nothing is due").isTrue();
		channel.writeOutbound("request");
		pass(channel, 2);
		channel.writeOutbound("request");
		assertThat(channel.isOpen()).isTrue();
		pass(channel, 3);
		assertThat(channel.isOpen()).isFalse();
	}

	private static void pass(EmbeddedChannel channel, int seconds) {
		for (int i = 0; i < seconds; i++) {
			channel.advanceTimeBy(1, TimeUnit.SECONDS);
			channel.runScheduledPendingTasks();
		}
	}

}
