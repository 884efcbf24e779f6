package io.holdfast.lock.autoconfigure;

import java.util.List;
import java.util.Locale;
import java.util.Map;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.util.StringUtils;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.spi.LockBackend;

/**
 * Picks the default store: the one that is named, else the only one that is configured,
 * else this JVM.
 */
final class BackendSelection {

	private static final Log logger = LogFactory.getLog(BackendSelection.class);

	private static final String LOCAL = "local";

	private static final Map<String, String> HOW_TO_CONFIGURE = Map.of("redis",
			"Add the dependency 'org.redisson:redisson' and set 'distributed-lock.redis.address', a RedissonClient bean, or 'spring.data.redis.*'.",
			"redlock",
			"Add the dependency 'org.redisson:redisson' and set 'distributed-lock.redlock.nodes' to the addresses of three or five independent Redis masters.",
			"zookeeper",
			"Add 'spring-cloud-zookeeper-core' with 'curator-recipes' and set 'spring.cloud.zookeeper.connect-string', or publish a CuratorFramework bean.",
			"etcd",
			"Add the dependency 'io.etcd:jetcd-core' and set 'distributed-lock.etcd.endpoints' to the addresses of the members.",
			"jdbc", "Add 'spring-boot-starter-jdbc' and set 'spring.datasource.*'.");

	private BackendSelection() {
	}

	static LockBackends select(List<LockBackend> backends, @Nullable String named) {
		List<String> names = backends.stream().map(LockBackend::name).toList();
		if (StringUtils.hasText(named)) {
			String wanted = named.trim().toLowerCase(Locale.ROOT);
			if (!names.contains(wanted)) {
				throw new LockConfigurationException(notThere(wanted, names));
			}
			return new LockBackends(backends, wanted);
		}
		List<String> configured = names.stream().filter((name) -> !name.equals(LOCAL)).toList();
		if (configured.size() > 1) {
			throw new LockConfigurationException(
					"Several lock stores are configured, %s, and none is named as the default. Set 'distributed-lock.backend' to one of them."
						.formatted(configured));
		}
		if (configured.isEmpty()) {
			logger.warn("No lock store is configured, so locks live in this JVM only: "
					+ "a second instance of this application is not kept out, and a restart forgets every lock. "
					+ "For more than one instance set 'distributed-lock.backend' and its store; "
					+ "if one instance is all there is, set 'distributed-lock.backend=local'.");
			return new LockBackends(backends, LOCAL);
		}
		return new LockBackends(backends, configured.get(0));
	}

	private static String notThere(String wanted, List<String> names) {
		return "The property 'distributed-lock.backend' is '%s', and no such lock store is configured; there are %s. %s"
			.formatted(wanted, names, HOW_TO_CONFIGURE.getOrDefault(wanted,
					"Name one of these, or publish a LockBackend bean of that name."));
	}

}
