package io.holdfast.lock.autoconfigure;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.ssl.SslBundle;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.support.DurationText;

/**
 * Creates clients that only locks use, with one library. They connect on first use and
 * never repeat a request, because the engine retries.
 */
interface RedisClients extends AutoCloseable {

	/** The name of the threads that the clients of several independent servers share. */
	String THREADS_OF_NODES = "holdfast-redlock-io";

	Duration SHORTEST_CONNECTION = Duration.ofMillis(1);

	Duration LONGEST_CONNECTION = Duration.ofMinutes(10);

	/**
	 * Returns how many threads of each kind the clients of several independent servers
	 * share. A request to all of them wakes each thread once, so they are few.
	 */
	static int threadsOfNodes() {
		return Math.max(2, Runtime.getRuntime().availableProcessors() / 2);
	}

	/**
	 * Rejects a time that no client can wait for a connection.
	 * @param property the property that sets it
	 */
	static void checkConnectionTimeout(String property, Duration timeout) {
		if (timeout.compareTo(SHORTEST_CONNECTION) < 0 || timeout.compareTo(LONGEST_CONNECTION) > 0) {
			throw new LockConfigurationException(
					"'%s' is %s. Set at least %s and at most %s.".formatted(property, DurationText.of(timeout),
							DurationText.of(SHORTEST_CONNECTION), DurationText.of(LONGEST_CONNECTION)));
		}
	}

	/**
	 * Creates a client of one server.
	 */
	RedisClient standalone(String hostAndPort, Settings settings, boolean tls);

	/**
	 * Creates a client of the master that sentinels name.
	 */
	RedisClient sentinel(String master, List<String> sentinels, RedisLogin sentinelLogin, Settings settings);

	/**
	 * Creates a client of a Cluster.
	 */
	RedisClient cluster(List<String> nodes, Settings settings);

	/**
	 * Creates a client of the master among some servers.
	 */
	RedisClient replicated(List<String> nodes, Settings settings);

	/**
	 * Ends the threads that its clients share, if they do. Close the clients first.
	 */
	@Override
	void close();

	/** Returns how messages name a setup with sentinels. */
	static String shownSentinel(String master, List<String> sentinels) {
		return "master '%s' of the sentinels %s".formatted(master, String.join(", ", sentinels));
	}

	/** Returns how messages name a Cluster. */
	static String shownCluster(List<String> nodes) {
		return "the cluster of " + String.join(", ", nodes);
	}

	/**
	 * Settings of any setup.
	 *
	 * @param login the credentials
	 * @param database the number of the database
	 * @param ssl the bundle for TLS, or {@code null} for none
	 * @param source the source of the address, as messages name it
	 */
	record Settings(RedisLogin login, int database, @Nullable SslBundle ssl, String source) {
	}

}
