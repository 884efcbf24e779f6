package io.holdfast.lock.autoconfigure;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.annotation.Bean;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.backend.redis.RedisLockBackend;
import io.holdfast.lock.backend.redis.RedisLockOptions;
import io.holdfast.lock.support.DurationText;

/**
 * Auto-configuration for the Redis backend. It uses the address set for locks, otherwise
 * the application's own client, otherwise Spring Boot's Redis connection details.
 * Redisson or Lettuce must be present.
 */
@AutoConfiguration(afterName = { "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
		"org.redisson.spring.starter.RedissonAutoConfigurationV4",
		"org.redisson.spring.starter.RedissonAutoConfigurationV2" })
@ConditionalOnLocksEnabled
@ConditionalOnLockStore(LockStore.REDIS)
@EnableConfigurationProperties({ DistributedLockProperties.class, RedisLockProperties.class })
public final class RedisLockAutoConfiguration {

	private static final Log logger = LogFactory.getLog(RedisLockAutoConfiguration.class);

	/** Must be destroyed before the client of the application. */
	static final String BEAN = "redisLockBackend";

	@Bean(name = BEAN)
	@ConditionalOnMissingBean
	RedisLockBackend redisLockBackend(DistributedLockProperties locks, StartupChecks checks, RedisLockProperties redis,
			ObjectProvider<SslBundles> bundles, ConfigurableListableBeanFactory beanFactory) {
		requireTimeForReplicas(locks, redis);
		RedisClient client = new RedisClientSelection(locks, redis, beanFactory).select(bundles);
		logger.info("Lock backend 'redis' uses %s (%s)".formatted(client.client(), client.source()));
		RedisLockBackend backend = new RedisLockBackend(client.client(), options(locks, redis, client));
		StartupCheck check = checks.of(LockStore.REDIS, "Redis (%s)".formatted(client.source()), remedies(client));
		checks.run(LockStore.REDIS, (close) -> check.run(backend::verify, close), backend::close);
		return backend;
	}

	private static RedisLockOptions options(DistributedLockProperties locks, RedisLockProperties redis,
			RedisClient client) {
		try {
			return new RedisLockOptions(locks.namespace(), locks.responseTimeout(), redis.waitReplicas(),
					redis.waitReplicasTimeout(), client.server());
		}
		catch (LockConfigurationException ex) {
			// its threads would keep the JVM alive after the failed startup
			client.client().close();
			throw ex;
		}
	}

	private static void requireTimeForReplicas(DistributedLockProperties locks, RedisLockProperties redis) {
		if (redis.waitReplicas() > 0 && redis.waitReplicasTimeout().compareTo(locks.responseTimeout()) > 0) {
			throw new LockConfigurationException(
					"'distributed-lock.redis.wait-replicas-timeout' is %s, but a response counts as missing after 'distributed-lock.response-timeout' (%s). Set a shorter wait for replicas, or a longer response timeout."
						.formatted(DurationText.of(redis.waitReplicasTimeout()),
								DurationText.of(locks.responseTimeout())));
		}
	}

	private static String[] remedies(RedisClient client) {
		String own = "'%s'".formatted(RedisClientSelection.ADDRESS);
		String start = "Start that Redis, or correct %s.".formatted(client.source());
		return client.source().equals(own) ? new String[] { start }
				: new String[] { start, "Set %s to the Redis that keeps the locks.".formatted(own) };
	}

}
