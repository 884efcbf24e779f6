package io.holdfast.lock.autoconfigure;

import java.util.regex.Pattern;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

import io.holdfast.lock.LockConfigurationException;

/**
 * The settings of the store in ZooKeeper. Where ZooKeeper is, and how to log in, is known
 * to the CuratorFramework of the application.
 *
 * @param basePath node below which all locks are
 */
@ConfigurationProperties("distributed-lock.zookeeper")
record ZooKeeperLockProperties(@DefaultValue("/holdfast") String basePath) {

	private static final Pattern PATH = Pattern.compile("(/[A-Za-z0-9_-]+)+");

	ZooKeeperLockProperties {
		if (!PATH.matcher(basePath).matches()) {
			throw new LockConfigurationException(
					"The property 'distributed-lock.zookeeper.base-path' is '%s', which is not the path of a node. Write it as '/holdfast', of letters, digits, '_' and '-'."
						.formatted(basePath));
		}
	}

}
