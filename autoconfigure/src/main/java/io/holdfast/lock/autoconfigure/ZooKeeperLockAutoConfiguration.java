package io.holdfast.lock.autoconfigure;

import java.time.Duration;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.imps.CuratorFrameworkState;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.backend.zookeeper.ZooKeeperLockBackend;
import io.holdfast.lock.backend.zookeeper.ZooKeeperLockOptions;
import io.holdfast.lock.support.DurationText;

/**
 * Auto-configuration for the ZooKeeper backend, with the application's
 * {@link CuratorFramework}, such as the one of Spring Cloud Zookeeper.
 */
@AutoConfiguration(afterName = "org.springframework.cloud.zookeeper.ZookeeperAutoConfiguration")
@ConditionalOnClass(CuratorFramework.class)
@ConditionalOnLocksEnabled
@ConditionalOnLockStore(LockStore.ZOOKEEPER)
@EnableConfigurationProperties({ DistributedLockProperties.class, ZooKeeperLockProperties.class })
public final class ZooKeeperLockAutoConfiguration {

	private static final String BEAN = "zooKeeperLockBackend";

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
		for (String name : beanFactory.getBeanNamesForType(CuratorFramework.class, true, false)) {
			// keeps the client alive until locks are released at shutdown
			beanFactory.registerDependentBean(name, BEAN);
		}
		ZooKeeperLockBackend backend = new ZooKeeperLockBackend(client,
				new ZooKeeperLockOptions(zooKeeper.basePath(), locks.namespace(), zooKeeper.whenSuspended()),
				start.longestAge(client, beanFactory));
		StartupCheck check = checks.of(LockStore.ZOOKEEPER,
				"ZooKeeper at '%s'".formatted(client.getZookeeperClient().getCurrentConnectionString()),
				"Start ZooKeeper, or correct 'spring.cloud.zookeeper.connect-string'.");
		checks.run(LockStore.ZOOKEEPER, (close) -> check.run(() -> {
			backend.verify();
			requireTimeForHolders(client, locks.lockDelay());
		}, close), backend::close);
		return backend;
	}

	/**
	 * A lost lock stays closed for the delay at the end of its session, so a holder can
	 * only use the time before. At least half of a session is proven to be left when a
	 * lock is granted.
	 */
	private static void requireTimeForHolders(CuratorFramework client, Duration lockDelay) {
		Duration session = Duration.ofMillis(client.getZookeeperClient().getLastNegotiatedSessionTimeoutMs());
		if (session.dividedBy(2).compareTo(lockDelay) <= 0) {
			throw new LockConfigurationException(
					"ZooKeeper grants sessions of %s, and 'distributed-lock.lock-delay' is %s. A lock relies on little more than half of a session, so no time may be left for a holder. Set a delay of less than %s, or a longer session timeout ('spring.cloud.zookeeper.session-timeout', which the server limits)."
						.formatted(DurationText.of(session), DurationText.of(lockDelay),
								DurationText.of(session.dividedBy(2))));
		}
	}

	/** Records the start of the context; created before any client of this context. */
	@Bean
	static ZooKeeperContextStart zooKeeperContextStart() {
		return new ZooKeeperContextStart();
	}

}
