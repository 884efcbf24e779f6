package io.holdfast.lock.autoconfigure;

import org.redisson.api.RedissonClient;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.annotation.Bean;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.autoconfigure.RedisClientFactory.Login;
import io.holdfast.lock.backend.redis.RedisLockBackend;
import io.holdfast.lock.backend.redis.RedisLockOptions;
import io.holdfast.lock.backend.redis.RedissonScriptClient;

/**
 * Auto-configuration for the Redis backend. It uses the address set for locks, otherwise
 * the application's {@link RedissonClient}, otherwise Spring Boot's Redis connection
 * details.
 */
@AutoConfiguration(afterName = { "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
		"org.redisson.spring.starter.RedissonAutoConfigurationV4",
		"org.redisson.spring.starter.RedissonAutoConfigurationV2" })
@ConditionalOnClass(RedissonClient.class)
@ConditionalOnBooleanProperty(name = "distributed-lock.enabled", matchIfMissing = true)
@ConditionalOnLockStore(LockStore.REDIS)
@EnableConfigurationProperties({ DistributedLockProperties.class, RedisLockProperties.class })
public final class RedisLockAutoConfiguration {

	private static final String ADDRESS = "distributed-lock.redis.address";

	private static final String BEAN = "redisLockBackend";

	private static final String BOOT_DETAILS = "org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails";

	@Bean(name = BEAN)
	@ConditionalOnMissingBean
	RedisLockBackend redisLockBackend(DistributedLockProperties locks, StartupChecks checks, RedisLockProperties redis,
			ObjectProvider<SslBundles> bundles, ConfigurableListableBeanFactory beanFactory) {
		RedisClient client = client(locks, redis, bundles, beanFactory);
		RedisLockOptions options = new RedisLockOptions(locks.namespace(), locks.responseTimeout(),
				redis.waitReplicas(), redis.waitReplicasTimeout(), client.server());
		RedisLockBackend backend = new RedisLockBackend(client.client(), options);
		StartupCheck check = checks.of(LockStore.REDIS, "Redis (%s)".formatted(client.source()), remedies(client));
		checks.run(LockStore.REDIS, (close) -> check.run(backend::verify, close), backend::close);
		return backend;
	}

	private static String[] remedies(RedisClient client) {
		String own = "'%s'".formatted(ADDRESS);
		String start = "Start that Redis, or correct %s.".formatted(client.source());
		return client.source().equals(own) ? new String[] { start }
				: new String[] { start, "Set %s to the Redis that keeps the locks.".formatted(own) };
	}

	private static RedisClient client(DistributedLockProperties locks, RedisLockProperties redis,
			ObjectProvider<SslBundles> bundles, ConfigurableListableBeanFactory beanFactory) {
		RedisClientFactory factory = new RedisClientFactory(redis.connectionTimeout(), locks.responseTimeout(),
				redis.waitReplicas());
		if (StringUtils.hasText(redis.address())) {
			return fromAddress(factory, RedisAddress.parse(ADDRESS, redis.address()), redis, bundles);
		}
		RedissonClient bean = beanFactory.getBeanProvider(RedissonClient.class).getIfAvailable();
		if (bean != null) {
			dependOnClient(beanFactory);
			return new RedisClient(new RedissonScriptClient(bean, false, locks.responseTimeout()),
					"the RedissonClient bean's address", "your RedissonClient bean");
		}
		return fromSpringDataRedis(factory, beanFactory);
	}

	private static RedisClient fromAddress(RedisClientFactory factory, RedisAddress address, RedisLockProperties redis,
			ObjectProvider<SslBundles> bundles) {
		Login login = (address.password() != null) ? new Login(address.username(), address.password())
				: new Login(redis.username(), redis.password());
		Integer database = address.database();
		SslBundle ssl = redis.ssl().find(bundles, "distributed-lock.redis.ssl.bundle");
		return factory.standalone(address.hostAndPort(), login, (database != null) ? database : redis.database(), ssl,
				address.tls() || ssl != null, "'" + ADDRESS + "'");
	}

	/** Keeps the client alive until locks are released at shutdown. */
	private static void dependOnClient(ConfigurableListableBeanFactory beanFactory) {
		for (String name : beanFactory.getBeanNamesForType(RedissonClient.class, true, false)) {
			beanFactory.registerDependentBean(name, BEAN);
		}
	}

	private static RedisClient fromSpringDataRedis(RedisClientFactory factory,
			ConfigurableListableBeanFactory beanFactory) {
		RedisClient client = ClassUtils.isPresent(BOOT_DETAILS, beanFactory.getBeanClassLoader())
				? SpringDataRedisClients.create(factory, beanFactory) : null;
		if (client == null) {
			throw new LockConfigurationException(
					"The backend 'redis' is configured, but its address is unknown. Set '%s', define a RedissonClient bean, or add 'spring-boot-starter-data-redis' and set 'spring.data.redis.host'."
						.formatted(ADDRESS));
		}
		return client;
	}

}
