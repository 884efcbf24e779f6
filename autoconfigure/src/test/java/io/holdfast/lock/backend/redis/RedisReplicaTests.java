package io.holdfast.lock.backend.redis;

import java.util.concurrent.CompletionStage;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.redisson.config.Config;
import org.redisson.config.SubscriptionMode;

import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.support.Failures;
import io.holdfast.lock.test.server.RedisServer;

import static io.holdfast.lock.backend.Verbs.awaitSignal;
import static io.holdfast.lock.backend.Verbs.claim;
import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.refused;
import static io.holdfast.lock.backend.Verbs.released;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for clients that know the replicas of their server.
 */
class RedisReplicaTests {

	private static final LockName LOCK = LockName.of("stock", "replica");

	@AutoClose
	private static final RedisServer primary = RedisServer.started();

	@AutoClose
	private static final RedisServer replica = primary.startReplica();

	/** {@code PUBLISH} on the primary does not count a subscriber on a replica. */
	@Test
	void fairWaiterOnAReplicaIsNotifiedAndKeepsItsPosition() throws Exception {
		try (RedisLockBackend onReplica = TestRedis.backend(listeningOnTheReplica(), TestRedis.patientOptions(0));
				RedisLockBackend onPrimary = RedisLibrary.REDISSON.backend(primary.address())) {
			assertThat(replica.ask("pubsub", "channels", "test:wake:*")).isNotEmpty();
			for (int i = 0; i < 5; i++) {
				Grant held = granted(onPrimary, fair());
				Claim first = fair();
				CompletionStage<?> signal = refused(onReplica, first);
				Claim second = fair();
				refused(onPrimary, second);
				released(onPrimary, held);
				refused(onPrimary, second);
				awaitSignal(signal);
				Grant inOrder = granted(onReplica, first);
				released(onReplica, inOrder);
				released(onPrimary, granted(onPrimary, second));
			}
		}
		assertThat(primary.keys("*waiters")).isEmpty();
	}

	/** Redisson appends its channel, its command and all parameters to each error. */
	@ParameterizedTest
	@EnumSource
	void errorIsReportedWithoutTheDetailsOfTheClient(RedisLibrary library) {
		RedisLockOptions options = TestRedis.options(0);
		try (RedisLockBackend onReplica = new RedisLockBackend(library.client(replica.address(), options), options)) {
			AcquireResult result = onReplica.tryAcquire(claim(LOCK)).toCompletableFuture().join();
			assertThat(result).isInstanceOfSatisfying(AcquireResult.Indeterminate.class,
					(unknown) -> assertThat(Failures.rootMessage(unknown.cause()))
						.endsWith("Exception: READONLY You can't write against a read only replica"));
		}
	}

	private static Config listeningOnTheReplica() {
		Config config = new Config();
		config.setThreads(2).setNettyThreads(2);
		config.useMasterSlaveServers()
			.setMasterAddress(primary.address())
			.addSlaveAddress(replica.address())
			.setSubscriptionMode(SubscriptionMode.SLAVE)
			.setMasterConnectionMinimumIdleSize(1)
			.setSlaveConnectionMinimumIdleSize(1)
			.setSubscriptionConnectionMinimumIdleSize(1);
		return config;
	}

	private static Claim fair() {
		Claim claim = claim(LOCK);
		return new Claim(claim.lock(), claim.owner(), claim.mode(), claim.leaseTime(), claim.renew(),
				claim.remainingWait(), true);
	}

}
