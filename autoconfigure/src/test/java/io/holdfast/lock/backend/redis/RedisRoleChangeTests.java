package io.holdfast.lock.backend.redis;

import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.test.server.RedisServer;
import io.holdfast.lock.test.server.ServerProcess;
import io.holdfast.lock.test.server.TcpProxy;

import static io.holdfast.lock.backend.Verbs.awaitSignal;
import static io.holdfast.lock.backend.Verbs.claim;
import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.refused;
import static io.holdfast.lock.backend.Verbs.released;
import static io.holdfast.lock.backend.Verbs.soonReleased;
import static io.holdfast.lock.backend.Verbs.soonRenewed;
import static io.holdfast.lock.backend.redis.TestRedis.get;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for a primary that becomes a replica, as in a planned failover behind a fixed
 * address, and keeps its connections.
 */
class RedisRoleChangeTests {

	private static final LockName LOCK = LockName.of("stock", "role");

	@AutoClose
	private final RedisServer primary = RedisServer.started();

	@AutoClose
	private final RedisServer replica = this.primary.startReplica();

	@AutoClose
	private final TcpProxy address = TcpProxy.to(this.primary.port());

	/** The demoted server passes on what the new primary publishes. */
	@ParameterizedTest
	@EnumSource(RedisLibrary.class)
	void waiterAtTheDemotedServerReceivesNoGrantThatIsNotKept(RedisLibrary library) throws Exception {
		try (RedisLockBackend before = backend(library)) {
			Grant held = granted(before, claim(LOCK));
			Claim waiting = claim(LOCK);
			CompletionStage<?> signal = refused(before, waiting);
			String channel = this.primary.ask("pubsub", "channels", "test:wake:*");
			changeRoles();
			try (RedisLockBackend after = library.backend(this.replica.address())) {
				released(after, held);
				Grant next = granted(after, claim(LOCK));
				this.replica.ask("publish", channel, waiting.owner().value());
				assertThat((Object) get(signal)).as("the first message").isNull();
				released(after, next);
			}
		}
	}

	@Test
	void renewalsLeaveTheDemotedServer() throws Exception {
		try (RedisLockBackend backend = backend(RedisLibrary.LETTUCE)) {
			Grant held = granted(backend, claim(LOCK));
			assertThat(get(backend.renew(List.of(held)))).hasSize(1);
			changeRoles();
			soonRenewed(backend, held);
			released(backend, held);
		}
	}

	@Test
	void notificationsLeaveTheDemotedServer() throws Exception {
		try (RedisLockBackend backend = backend(RedisLibrary.LETTUCE)) {
			Grant held = granted(backend, claim(LOCK));
			changeRoles();
			soonReleased(backend, held);
			Awaitility.await("a subscription").until(() -> !this.replica.ask("pubsub", "channels", "test:*").isEmpty());
			held = granted(backend, claim(LOCK));
			CompletionStage<?> signal = refused(backend, claim(LOCK));
			released(backend, held);
			awaitSignal(signal);
			assertThat(this.replica.keys("*:lock")).as("kept for the waiter").hasSize(1);
		}
	}

	@Test
	@DisplayName("notifications leave the demoted server when requests reach the new primary, not before")
	void notificationsLeaveTheDemotedServerOnceRequestsHave() throws Exception {
		try (RedisLockBackend backend = backend(RedisLibrary.LETTUCE)) {
			Grant held = granted(backend, claim(LOCK));
			demote();
			String channel = channelAtTheDemotedServer();
			for (int connection = 1; connection <= 2; connection++) {
				assertThat(get(backend.release(held))).isInstanceOf(ReleaseResult.Indeterminate.class);
			}
			assertThat(channelAtTheDemotedServer()).isEqualTo(channel);
			this.address.forwardNewTo(this.replica.port());
			soonReleased(backend, held);
			Awaitility.await("a subscription").until(() -> !this.replica.ask("pubsub", "channels", "test:*").isEmpty());
		}
	}

	private String channelAtTheDemotedServer() {
		return this.primary.ask("client", "list", "type", "pubsub")
			.lines()
			.map((line) -> line.replaceFirst(" .*", ""))
			.collect(Collectors.joining());
	}

	private RedisLockBackend backend(RedisLibrary library) {
		return library.backend("redis://" + ServerProcess.HOST + ":" + this.address.port(), TestRedis.options(0));
	}

	private void changeRoles() {
		demote();
		this.address.forwardNewTo(this.replica.port());
	}

	private void demote() {
		Awaitility.await("the lock").until(() -> this.replica.keys("*:lock").size() == 1);
		this.replica.ask("replicaof", "no", "one");
		this.primary.ask("replicaof", ServerProcess.HOST, Integer.toString(this.replica.port()));
		Awaitility.await("replication")
			.until(() -> this.primary.ask("info", "replication").contains("master_link_status:up"));
	}

}
