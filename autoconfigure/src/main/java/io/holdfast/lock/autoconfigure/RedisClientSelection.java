package io.holdfast.lock.autoconfigure;

import java.time.Duration;

import org.jspecify.annotations.Nullable;
import org.redisson.api.RedissonClient;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.autoconfigure.RedisClients.Settings;
import io.holdfast.lock.backend.redis.RedissonScriptClient;

/**
 * Selects the Redis client for locks: one for the address of locks, otherwise the
 * application's Redisson, otherwise its Lettuce, otherwise one for Spring Boot's
 * connection details. Without a setting, Redisson connects if both libraries are present
 * and the application uses neither.
 */
final class RedisClientSelection {

	private static final String PREFIX = "distributed-lock.redis";

	/** The property of the address of locks. */
	static final String ADDRESS = PREFIX + ".address";

	private static final String BOOT_DETAILS = "org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails";

	private static final String LETTUCE_FACTORY = "org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory";

	private final DistributedLockProperties locks;

	private final RedisLockProperties redis;

	private final ConfigurableListableBeanFactory beanFactory;

	RedisClientSelection(DistributedLockProperties locks, RedisLockProperties redis,
			ConfigurableListableBeanFactory beanFactory) {
		this.locks = locks;
		this.redis = redis;
		this.beanFactory = beanFactory;
	}

	RedisClient select(ObjectProvider<SslBundles> bundles) {
		this.redis.client().requirePresent(LockStore.REDIS, this.beanFactory.getBeanClassLoader());
		RedisClients.checkConnectionTimeout("distributed-lock.redis.connection-timeout",
				this.redis.connectionTimeout());
		if (StringUtils.hasText(this.redis.address())) {
			return fromAddress(RedisAddress.parse(ADDRESS, this.redis.address()), bundles);
		}
		requireNoSettingOfTheAddress();
		RedisClient client = uses(RedisClientLibrary.REDISSON) ? redissonOfApplication() : null;
		if (client == null && uses(RedisClientLibrary.LETTUCE) && isPresent(LETTUCE_FACTORY)) {
			client = lettuceOfApplication();
		}
		if (client == null && isPresent(BOOT_DETAILS)) {
			client = SpringDataRedisClients.create(clients(), this.beanFactory);
		}
		if (client == null) {
			throw new LockConfigurationException(
					"The backend 'redis' is configured, but its address is unknown. Set '%s', %sor add 'spring-boot-starter-data-redis' and set 'spring.data.redis.host'."
						.formatted(ADDRESS, (this.redis.client() == RedisClientLibrary.LETTUCE) ? ""
								: "define a RedissonClient bean, "));
		}
		return client;
	}

	/**
	 * Rejects a setting that would have no effect. The client of the application has
	 * settings of its own.
	 */
	private void requireNoSettingOfTheAddress() {
		String set = settingOfTheAddress();
		if (set != null) {
			throw new LockConfigurationException(
					"The property '%s.%s' is set, but '%s' is not, to which it applies. Set the address as well, or remove the property. The application's own Redis has its settings in 'spring.data.redis' or in its client bean."
						.formatted(PREFIX, set, ADDRESS));
		}
	}

	private @Nullable String settingOfTheAddress() {
		if (this.redis.username() != null) {
			return "username";
		}
		if (this.redis.password() != null) {
			return "password";
		}
		if (this.redis.database() != 0) {
			return "database";
		}
		return StringUtils.hasText(this.redis.ssl().bundle()) ? "ssl.bundle" : null;
	}

	private boolean uses(RedisClientLibrary library) {
		return this.redis.client().permits(library, this.beanFactory.getBeanClassLoader());
	}

	private boolean isPresent(String type) {
		return ClassUtils.isPresent(type, this.beanFactory.getBeanClassLoader());
	}

	private RedisClients clients() {
		return uses(RedisClientLibrary.REDISSON) ? new RedissonClientFactory(this.redis.connectionTimeout(),
				this.locks.responseTimeout(), this.redis.waitReplicas()) : lettuce();
	}

	private LettuceClientFactory lettuce() {
		return new LettuceClientFactory(this.redis.connectionTimeout(), this.locks.responseTimeout(),
				(this.redis.waitReplicas() > 0) ? this.redis.waitReplicasTimeout() : Duration.ZERO);
	}

	private RedisClient fromAddress(RedisAddress address, ObjectProvider<SslBundles> bundles) {
		Integer database = address.database();
		requireOnce("database", database, (this.redis.database() != 0) ? this.redis.database() : null);
		requireOnce("username", address.username(), this.redis.username());
		requireOnce("password", address.password(), this.redis.password());
		RedisLogin login = RedisLogin.of(address, PREFIX, this.redis.username(), this.redis.password());
		SslBundle ssl = this.redis.ssl().find(bundles, "distributed-lock.redis.ssl.bundle");
		Settings settings = new Settings(login, (database != null) ? database : this.redis.database(), ssl,
				"'" + ADDRESS + "'");
		return clients().standalone(address.hostAndPort(), settings, address.tls() || ssl != null);
	}

	/**
	 * Rejects a setting to which the address and its own property assign different
	 * values.
	 */
	private static void requireOnce(String setting, @Nullable Object ofAddress, @Nullable Object ofProperty) {
		if (ofAddress != null && ofProperty != null && !ofAddress.equals(ofProperty)) {
			throw new LockConfigurationException(
					"The properties '%s' and '%s.%s' contain different values of the %s. Remove one of them."
						.formatted(ADDRESS, PREFIX, setting, setting));
		}
	}

	/** The client stays alive until locks are released at shutdown. */
	private @Nullable RedisClient redissonOfApplication() {
		RedissonClient bean = theOne(this.beanFactory, RedissonClient.class);
		if (bean == null) {
			return null;
		}
		for (String name : this.beanFactory.getBeanNamesForType(RedissonClient.class, true, false)) {
			this.beanFactory.registerDependentBean(name, RedisLockAutoConfiguration.BEAN);
		}
		return new RedisClient(new RedissonScriptClient(bean, false, this.locks.responseTimeout()),
				"the RedissonClient bean's address", "your RedissonClient bean");
	}

	/**
	 * Returns the bean of a type, or {@code null} if there is none.
	 * @throws LockConfigurationException if there are several without a primary one. Any
	 * other choice would connect the application's instances to servers that no one named
	 */
	static <T> @Nullable T theOne(BeanFactory beanFactory, Class<T> type) {
		try {
			return beanFactory.getBeanProvider(type).getIfAvailable();
		}
		catch (NoUniqueBeanDefinitionException ex) {
			throw new LockConfigurationException(
					"There are several %s beans, %s, and none of them is primary. Mark one with @Primary, or set '%s'."
						.formatted(type.getSimpleName(), ex.getBeanNamesFound(), ADDRESS));
		}
	}

	private @Nullable RedisClient lettuceOfApplication() {
		LettuceOfApplication application = LettuceOfApplication.find(this.beanFactory);
		if (application == null) {
			return null;
		}
		String bean = "your LettuceConnectionFactory bean";
		return application.client(lettuce(), isPresent(BOOT_DETAILS)
				? SpringDataRedisClients.source(application.server(), bean, this.beanFactory) : bean);
	}

}
