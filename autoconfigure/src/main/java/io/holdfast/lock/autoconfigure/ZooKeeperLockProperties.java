package io.holdfast.lock.autoconfigure;

import java.util.regex.Pattern;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.backend.zookeeper.WhenSuspended;

/**
 * Settings of locks in ZooKeeper. The application's CuratorFramework knows the servers
 * and the credentials.
 *
 * @param basePath Path of the node below which all locks are kept.
 * @param whenSuspended What a check that a lock is held does while the connection is
 * interrupted. With 'wait', the check waits while the hold is valid, so an interruption
 * that the session survives rolls nothing back. With 'fail', it fails at once. Both are
 * safe.
 */
@ConfigurationProperties("distributed-lock.zookeeper")
record ZooKeeperLockProperties(@DefaultValue("/holdfast") String basePath,
		@DefaultValue("wait") WhenSuspended whenSuspended) {

	private static final Pattern PATH = Pattern.compile("(/[A-Za-z0-9_-]+)+");

	ZooKeeperLockProperties {
		if (!PATH.matcher(basePath).matches()) {
			throw new LockConfigurationException(
					"The property 'distributed-lock.zookeeper.base-path' is '%s', which is not a valid path. Use a path such as '/holdfast', of letters, digits, '_' and '-'."
						.formatted(basePath));
		}
	}

}
