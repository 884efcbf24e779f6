package io.holdfast.verification.benchmark;

import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;

import org.springframework.integration.support.locks.DefaultLockRegistry;

/**
 * The libraries that are compared. The first one of each store is the limit.
 */
enum Library {

	/** The limit of the store. */
	RAW("redis", "redlock", "zookeeper", "etcd", "jdbc", "h2", "local"),

	/** This library, through {@code LockOperations}. */
	HOLDFAST("redis", "redlock", "zookeeper", "etcd", "jdbc", "h2", "local"),

	/** This library, through its annotation. */
	HOLDFAST_ANNOTATION("redis", "redlock", "zookeeper", "etcd", "jdbc", "h2", "local"),

	/** This library, through {@code LockOperations}, with Lettuce as its client. */
	HOLDFAST_LETTUCE("redis", "redlock"),

	/** This library with sticky leases. */
	HOLDFAST_STICKY("redis"),

	/** This library with advisory locks of PostgreSQL. */
	HOLDFAST_ADVISORY("jdbc"),

	REDISSON("redis", "redlock"),

	CURATOR("zookeeper"),

	JETCD("etcd"),

	LOCK4J("redis"),

	SPRING_INTEGRATION("redis", "zookeeper", "jdbc", "h2", "local"),

	/** Its lock on Redis does not check the owner at the release. */
	SHEDLOCK("redis", "jdbc", "h2");

	private final List<String> stores;

	Library(String... stores) {
		this.stores = List.of(stores);
	}

	static List<Library> on(String store) {
		return Stream.of(values()).filter((library) -> library.stores.contains(store)).toList();
	}

	boolean isOurs() {
		return name().startsWith(HOLDFAST.name());
	}

	/**
	 * Connects to the store. This library starts an application instead.
	 * @param servers the ports of its servers
	 * @param url the URL of the database
	 */
	Contender connect(String store, List<Integer> servers, String url) throws Exception {
		return switch (this) {
			case RAW -> raw(store, servers, url);
			case REDISSON -> store.equals("redis") ? RedisContenders.redisson(servers.get(0))
					: RedisContenders.redissonRedLock(servers);
			case CURATOR -> ZooKeeperContenders.curatorMutex(servers.get(0));
			case JETCD -> EtcdContenders.jetcd(servers.get(0));
			case LOCK4J -> RedisContenders.lock4j(servers.get(0));
			case SPRING_INTEGRATION -> springIntegration(store, servers, url);
			case SHEDLOCK ->
				store.equals("redis") ? RedisContenders.shedLock(servers.get(0)) : JdbcContenders.shedLock(url);
			case HOLDFAST, HOLDFAST_ANNOTATION, HOLDFAST_LETTUCE, HOLDFAST_STICKY, HOLDFAST_ADVISORY ->
				throw new IllegalArgumentException(name());
		};
	}

	private static Contender raw(String store, List<Integer> servers, String url) throws Exception {
		return switch (store) {
			case "redis" -> RedisContenders.raw(servers.get(0));
			case "redlock" -> RedisContenders.rawOfAll(servers);
			case "zookeeper" -> ZooKeeperContenders.raw(servers.get(0));
			case "etcd" -> EtcdContenders.raw(servers.get(0));
			case "jdbc", "h2" -> JdbcContenders.raw(url);
			default -> inMemory();
		};
	}

	private static Contender inMemory() {
		ConcurrentHashMap<String, ReentrantLock> locks = new ConcurrentHashMap<>();
		return (key, section) -> {
			ReentrantLock lock = locks.computeIfAbsent(key, (added) -> new ReentrantLock());
			Contender.locked(lock, section);
		};
	}

	private static Contender springIntegration(String store, List<Integer> servers, String url) {
		return switch (store) {
			case "redis" -> RedisContenders.springIntegration(servers.get(0));
			case "zookeeper" -> ZooKeeperContenders.springIntegration(servers.get(0));
			case "jdbc", "h2" -> JdbcContenders.springIntegration(url);
			default -> {
				DefaultLockRegistry registry = new DefaultLockRegistry();
				yield (key, section) -> Contender.locked(registry.obtain(key), section);
			}
		};
	}

}
