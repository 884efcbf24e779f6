package io.holdfast.lock.autoconfigure;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.annotation.Bean;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.backend.redis.RedisNode;
import io.holdfast.lock.backend.redis.ScriptClient;
import io.holdfast.lock.backend.redlock.RedlockLockBackend;
import io.holdfast.lock.backend.redlock.RedlockOptions;

/**
 * Auto-configuration for the Redlock backend, with its own client for each of several
 * independent Redis masters.
 */
@AutoConfiguration
@ConditionalOnClass(RedissonClient.class)
@ConditionalOnBooleanProperty(name = "distributed-lock.enabled", matchIfMissing = true)
@ConditionalOnLockStore(LockStore.REDLOCK)
@EnableConfigurationProperties({ DistributedLockProperties.class, RedlockLockProperties.class })
public final class RedlockLockAutoConfiguration {

	private static final String NODES = "distributed-lock.redlock.nodes";

	/** Threads of each kind per node. Requests are short and never block a thread. */
	private static final int THREADS = 1;

	@Bean
	@ConditionalOnMissingBean
	RedlockLockBackend redlockLockBackend(DistributedLockProperties locks, StartupChecks checks,
			RedlockLockProperties redlock, ObjectProvider<SslBundles> bundles) {
		List<RedisAddress> addresses = addresses(redlock);
		Duration longest = redlock.longestLease();
		RedlockOptions options = new RedlockOptions(locks.namespace(), locks.responseTimeout(), redlock.nodeTimeout(),
				redlock.driftFactor(), (longest != null) ? longest : locks.leaseTime(), redlock.restartQuarantine());
		RedissonClientFactory clients = new RedissonClientFactory(redlock.connectionTimeout(), locks.responseTimeout(),
				0);
		SslBundle ssl = redlock.ssl().find(bundles, "distributed-lock.redlock.ssl.bundle");
		RedlockLockBackend backend = new RedlockLockBackend(addresses.stream()
			.map((address) -> new RedisNode(client(clients, address, redlock, ssl), locks.namespace(),
					locks.responseTimeout(), address.hostAndPort()))
			.toList(), options);
		StartupCheck check = checks.of(LockStore.REDLOCK, "the Redis nodes of '%s'".formatted(NODES),
				"Start these nodes, or correct '%s'.".formatted(NODES));
		checks.run(LockStore.REDLOCK, (close) -> {
			check.run(backend::verify, close);
			backend.awaitVotes(redlock.quarantineWait());
		}, backend::close);
		return backend;
	}

	private static List<RedisAddress> addresses(RedlockLockProperties redlock) {
		List<RedisAddress> addresses = redlock.nodes().stream().map((text) -> RedisAddress.parse(NODES, text)).toList();
		RedlockLockBackend.checkCount(addresses.size());
		Set<String> seen = new HashSet<>();
		for (RedisAddress address : addresses) {
			if (!seen.add(address.hostAndPort())) {
				throw new LockConfigurationException(
						"'%s' lists %s twice, so it would vote twice. List each server once.".formatted(NODES,
								address));
			}
		}
		return addresses;
	}

	private static ScriptClient client(RedissonClientFactory clients, RedisAddress address,
			RedlockLockProperties redlock, @Nullable SslBundle ssl) {
		RedisLogin login = (address.password() != null) ? new RedisLogin(address.username(), address.password())
				: new RedisLogin(redlock.username(), redlock.password());
		Config config = clients.config(login, ssl).setThreads(THREADS).setNettyThreads(THREADS);
		Integer database = address.database();
		clients.single(config)
			.setAddress(RedissonClientFactory.scheme(address.tls() || ssl != null) + address.hostAndPort())
			.setDatabase((database != null) ? database : 0)
			.setSubscriptionConnectionMinimumIdleSize(0);
		return clients.create(config, address.hostAndPort(), NODES).client();
	}

}
