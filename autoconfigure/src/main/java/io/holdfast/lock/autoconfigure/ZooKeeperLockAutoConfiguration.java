package io.holdfast.lock.autoconfigure;

import java.util.concurrent.TimeUnit;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.imps.CuratorFrameworkState;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.backend.zookeeper.ZooKeeperLockBackend;

/**
 * Auto-configuration for the ZooKeeper backend, with the application's
 * {@link CuratorFramework}, such as the one of Spring Cloud Zookeeper.
 */
@AutoConfiguration(afterName = "org.springframework.cloud.zookeeper.ZookeeperAutoConfiguration")
@ConditionalOnClass(CuratorFramework.class)
@ConditionalOnBooleanProperty(name = "distributed-lock.enabled", matchIfMissing = true)
@ConditionalOnLockStore(LockStore.ZOOKEEPER)
@EnableConfigurationProperties({ DistributedLockProperties.class, ZooKeeperLockProperties.class })
public final class ZooKeeperLockAutoConfiguration {

	private static final String BEAN = "zooKeeperLockBackend";

	private static final int MILLIS_OF_AN_ATTEMPT = 1_000;

	@Bean(name = BEAN)
	@ConditionalOnMissingBean
	ZooKeeperLockBackend zooKeeperLockBackend(DistributedLockProperties locks, StartupChecks checks,
			ZooKeeperLockProperties zooKeeper, ObjectProvider<CuratorFramework> clients,
			ConfigurableListableBeanFactory beanFactory, ZooKeeperContextStart start) {
		CuratorFramework client = clients.getIfUnique();
		if (client == null) {
			throw new LockConfigurationException(
					"The backend 'zookeeper' is configured, but there is no CuratorFramework bean, or there are several and none is primary. Add 'spring-cloud-zookeeper-core' with 'curator-recipes' and set 'spring.cloud.zookeeper.connect-string', or define a CuratorFramework bean.");
		}
		if (client.getState() == CuratorFrameworkState.LATENT) {
			client.start();
		}
		StartupCheck check = checks.of(LockStore.ZOOKEEPER,
				"ZooKeeper at '%s'".formatted(client.getZookeeperClient().getCurrentConnectionString()),
				"Start ZooKeeper, or correct 'spring.cloud.zookeeper.connect-string'.");
		checks.run(LockStore.ZOOKEEPER, (close) -> check.run(() -> connect(client), close), () -> {
		});
		for (String name : beanFactory.getBeanNamesForType(CuratorFramework.class, true, false)) {
			// keeps the client alive until locks are released at shutdown
			beanFactory.registerDependentBean(name, BEAN);
		}
		return new ZooKeeperLockBackend(client, zooKeeper.basePath(), locks.namespace(), zooKeeper.whenSuspended(),
				start.longestAge(client, beanFactory));
	}

	/** Records the start of the context; created before any client of this context. */
	@Bean
	static ZooKeeperContextStart zooKeeperContextStart() {
		return new ZooKeeperContextStart();
	}

	private static void connect(CuratorFramework client) {
		try {
			if (client.blockUntilConnected(MILLIS_OF_AN_ATTEMPT, TimeUnit.MILLISECONDS)) {
				return;
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		throw new LockBackendException("it did not respond.");
	}

}
