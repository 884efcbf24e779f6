package io.holdfast.lock.autoconfigure;

import java.util.regex.Pattern;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.backend.zookeeper.WhenSuspended;

/**
 * The settings of the store in ZooKeeper. Where ZooKeeper is, and how to log in, is known
 * to the CuratorFramework of the application.
 *
 * @param basePath Node below which all locks are.
 * @param whenSuspended What a check that a lock is held, such as that before a commit,
 * does while the connection is interrupted. 'wait' is the default because both are safe,
 * and it rolls nothing back for a break that the session outlives; it keeps the
 * transaction open for as long as the hold is valid, where 'fail' rolls it back at once.
 */
@ConfigurationProperties("distributed-lock.zookeeper")
record ZooKeeperLockProperties(@DefaultValue("/holdfast") String basePath,
		@DefaultValue("wait") WhenSuspended whenSuspended) {

	private static final Pattern PATH = Pattern.compile("(/[A-Za-z0-9_-]+)+");

	ZooKeeperLockProperties {
		if (!PATH.matcher(basePath).matches()) {
			throw new LockConfigurationException(
					"The property 'distributed-lock.zookeeper.base-path' is '%s', which is not the path of a node. Write it as '/holdfast', of letters, digits, '_' and '-'."
						.formatted(basePath));
		}
	}

}
