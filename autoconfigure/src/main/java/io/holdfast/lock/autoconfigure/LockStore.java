package io.holdfast.lock.autoconfigure;

import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.ConfigurationPropertyState;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * The stores that an application can configure, and the rule that decides whether a store
 * is configured. A store is configured if it is the named default, one of its properties
 * is set, or a client bean for it exists.
 */
enum LockStore {

	REDIS("Add the dependency %s and set 'distributed-lock.redis.address' or 'spring.data.redis.*'%s.",
			List.of("org.redisson.api.RedissonClient|io.lettuce.core.RedisClient"),
			List.of("org.redisson.api.RedissonClient",
					"org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails",
					"org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory"),
			List.of("org.springframework.data.redis.connection.RedisConnectionFactory"),
			List.of("spring.data.redis.host", "spring.data.redis.url", "spring.data.redis.sentinel",
					"spring.data.redis.cluster", "spring.data.redis.masterreplica")),

	REDLOCK("Add the dependency %s and set 'distributed-lock.redlock.nodes' to the addresses of three or five independent Redis masters.",
			List.of("org.redisson.api.RedissonClient|io.lettuce.core.RedisClient"), List.of(), List.of(), List.of()),

	ZOOKEEPER(
			"Add 'spring-cloud-zookeeper-core' with 'curator-recipes' and set 'spring.cloud.zookeeper.connect-string', or define a CuratorFramework bean.",
			List.of("org.apache.curator.framework.CuratorFramework"),
			List.of("org.apache.curator.framework.CuratorFramework"), List.of(),
			List.of("spring.cloud.zookeeper.connect-string")),

	ETCD("Add the dependency 'io.etcd:jetcd-core' and set 'distributed-lock.etcd.endpoints' to the addresses of the members.",
			List.of("io.etcd.jetcd.Client"), List.of(), List.of("io.etcd.jetcd.Client"), List.of()),

	/**
	 * A {@code DataSource} does not count as evidence, because applications have one
	 * anyway.
	 */
	JDBC("Add 'spring-boot-starter-jdbc' and set 'spring.datasource.*'.",
			List.of("org.springframework.jdbc.datasource.init.ResourceDatabasePopulator",
					"org.springframework.boot.jdbc.EmbeddedDatabaseConnection"),
			List.of(), List.of(), List.of());

	static final String BACKEND = "distributed-lock.backend";

	private final String remedy;

	private final List<String> requiredTypes;

	private final List<String> clients;

	private final List<String> foreignClients;

	private final List<String> foreignSettings;

	/**
	 * Creates a store.
	 * @param remedy the steps that make the store usable; {@code %s} stands for the
	 * dependencies that bring a library for Redis
	 * @param requiredTypes types without which the store cannot be used; a bar separates
	 * alternatives
	 * @param clients types of beans that locks can use or take the address from
	 * @param foreignClients types of beans that show that the application uses the store,
	 * but that locks cannot use
	 * @param foreignSettings settings of other libraries that locate the store
	 */
	LockStore(String remedy, List<String> requiredTypes, List<String> clients, List<String> foreignClients,
			List<String> foreignSettings) {
		this.remedy = remedy;
		this.requiredTypes = requiredTypes;
		this.clients = clients;
		this.foreignClients = foreignClients;
		this.foreignSettings = foreignSettings;
	}

	/** Returns the name of the backend. */
	String id() {
		return name().toLowerCase(Locale.ROOT);
	}

	/**
	 * Returns the steps that make the store usable, as a sentence.
	 * @param environment may select the library that connects to the store
	 */
	String remedy(Environment environment) {
		return this.remedy.formatted(RedisClientLibrary.dependencies(this, environment),
				RedisClientLibrary.LETTUCE.isSelected(this, environment) ? "" : ", or define a RedissonClient bean");
	}

	/** Whether the client of the store is on the class path. */
	boolean isSupported(@Nullable ClassLoader classLoader) {
		return this.requiredTypes.stream()
			.allMatch((types) -> Stream.of(types.split("\\|"))
				.anyMatch((type) -> ClassUtils.isPresent(type, classLoader)));
	}

	/**
	 * Returns the text that says which lock settings of this store are present, or
	 * {@code null} if there are none.
	 */
	@Nullable String ownSetting(Environment environment) {
		String prefix = "distributed-lock." + id();
		return isSet(environment, prefix) ? "'%s.*' is set".formatted(prefix) : null;
	}

	/**
	 * Returns the text that says why this store is configured, or {@code null} if it is
	 * not. If another store is named as the default, lock settings count only if the
	 * location of this store is known. Client beans then count only if locks can use
	 * them, and settings of other libraries do not count.
	 */
	@Nullable String evidence(Environment environment, ConfigurableListableBeanFactory beans) {
		String named = named(environment);
		if (id().equals(named)) {
			return "'%s' names it".formatted(BACKEND);
		}
		String client = bean(this.clients, beans);
		boolean located = named == null || client != null || isLocated(environment, beans);
		String evidence = located ? ownSetting(environment) : null;
		if (evidence != null) {
			return evidence;
		}
		if (client != null || named != null) {
			return client;
		}
		String foreign = bean(this.foreignClients, beans);
		return (foreign != null) ? foreign : foreignSetting(environment);
	}

	private boolean isLocated(Environment environment, ConfigurableListableBeanFactory beans) {
		return switch (this) {
			case REDIS -> isSet(environment, "distributed-lock.redis.address");
			case REDLOCK -> isSet(environment, "distributed-lock.redlock.nodes");
			case ETCD -> isSet(environment, "distributed-lock.etcd.endpoints");
			case ZOOKEEPER -> false;
			case JDBC -> bean(List.of("javax.sql.DataSource"), beans) != null;
		};
	}

	private @Nullable String foreignSetting(Environment environment) {
		for (String setting : this.foreignSettings) {
			if (isSet(environment, setting)) {
				return "'%s' is set".formatted(setting);
			}
		}
		return null;
	}

	private static @Nullable String bean(List<String> types, ConfigurableListableBeanFactory beans) {
		for (String type : types) {
			if (ClassUtils.isPresent(type, beans.getBeanClassLoader())) {
				Class<?> resolved = ClassUtils.resolveClassName(type, beans.getBeanClassLoader());
				String[] names = BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, resolved, true, false);
				if (names.length > 0) {
					return "the %s bean '%s' exists".formatted(resolved.getSimpleName(), names[0]);
				}
			}
		}
		return null;
	}

	/** Whether a property of this name exists, or one below it. */
	private static boolean isSet(Environment environment, String text) {
		ConfigurationPropertyName name = ConfigurationPropertyName.of(text);
		for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
			if (source.getConfigurationProperty(name) != null
					|| source.containsDescendantOf(name) == ConfigurationPropertyState.PRESENT) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Returns the name of the default backend, or {@code null} if no default is named.
	 */
	static @Nullable String named(Environment environment) {
		return normalized(environment.getProperty(BACKEND));
	}

	/**
	 * Returns a backend name in the form used for comparison: stripped and in lower case,
	 * or {@code null} if the name is blank.
	 */
	static @Nullable String normalized(@Nullable String name) {
		return StringUtils.hasText(name) ? name.strip().toLowerCase(Locale.ROOT) : null;
	}

}
