package io.holdfast.lock.autoconfigure;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.annotation.Bean;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.autoconfigure.RedisClients.Settings;
import io.holdfast.lock.backend.redis.RedisNode;
import io.holdfast.lock.backend.redlock.RedlockLockBackend;
import io.holdfast.lock.backend.redlock.RedlockLockOptions;

/**
 * Auto-configuration for the Redlock backend, with its own client for each of several
 * independent Redis masters. Redisson or Lettuce must be present.
 */
@AutoConfiguration
@ConditionalOnLocksEnabled
@ConditionalOnLockStore(LockStore.REDLOCK)
@EnableConfigurationProperties({ DistributedLockProperties.class, RedlockLockProperties.class })
public final class RedlockLockAutoConfiguration {

	private static final Log logger = LogFactory.getLog(RedlockLockAutoConfiguration.class);

	private static final String NODES = "distributed-lock.redlock.nodes";

	/** Closed after the backend, whose clients use its threads until then. */
	@Bean
	@ConditionalOnMissingBean(RedlockLockBackend.class)
	RedisClients redlockLockClients(DistributedLockProperties locks, RedlockLockProperties redlock,
			ConfigurableListableBeanFactory beanFactory) {
		return clients(redlock, locks.responseTimeout(), beanFactory.getBeanClassLoader());
	}

	@Bean
	@ConditionalOnMissingBean
	RedlockLockBackend redlockLockBackend(DistributedLockProperties locks, StartupChecks checks,
			RedlockLockProperties redlock, ObjectProvider<SslBundles> bundles, RedisClients clients) {
		List<RedisAddress> addresses = addresses(redlock);
		Duration longest = redlock.longestLease();
		RedlockLockOptions options = new RedlockLockOptions(locks.namespace(), locks.responseTimeout(),
				redlock.nodeTimeout(), redlock.driftFactor(), (longest != null) ? longest : locks.leaseTime(),
				redlock.restartQuarantine());
		SslBundle ssl = redlock.ssl().find(bundles, "distributed-lock.redlock.ssl.bundle");
		RedlockLockBackend backend = new RedlockLockBackend(
				addresses.stream().map((address) -> node(clients, address, redlock, ssl, locks)).toList(), options);
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

	private static RedisClients clients(RedlockLockProperties redlock, Duration responseTimeout,
			@Nullable ClassLoader classLoader) {
		redlock.client().requirePresent(LockStore.REDLOCK, classLoader);
		RedisClients.checkConnectionTimeout("distributed-lock.redlock.connection-timeout", redlock.connectionTimeout());
		boolean redisson = redlock.client().permits(RedisClientLibrary.REDISSON, classLoader);
		logger.info("Lock backend 'redlock' uses %s ('%s')".formatted(redisson ? "Redisson" : "Lettuce", NODES));
		return redisson ? RedissonClientFactory.ofNodes(redlock.connectionTimeout(), responseTimeout)
				: LettuceClientFactory.ofNodes(redlock.connectionTimeout(), responseTimeout);
	}

	private static RedisNode node(RedisClients clients, RedisAddress address, RedlockLockProperties redlock,
			@Nullable SslBundle ssl, DistributedLockProperties locks) {
		RedisLogin login = RedisLogin.of(address, "distributed-lock.redlock", redlock.username(), redlock.password());
		Integer database = address.database();
		Settings settings = new Settings(login, (database != null) ? database : 0, ssl, NODES);
		RedisClient client = clients.standalone(address.hostAndPort(), settings, address.tls() || ssl != null);
		return new RedisNode(client.client(), locks.namespace(), locks.responseTimeout(), address.hostAndPort());
	}

}
