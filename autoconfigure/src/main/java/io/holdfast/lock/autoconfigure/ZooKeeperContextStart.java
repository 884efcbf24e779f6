package io.holdfast.lock.autoconfigure;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Arrays;

import org.apache.curator.framework.CuratorFramework;

import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * Knows when this application context began to create its beans. A client that is one of
 * them has no session that is older; any other may be as old as the JVM.
 */
final class ZooKeeperContextStart implements BeanFactoryPostProcessor {

	private final long startedAt = System.nanoTime();

	@Override
	public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {
	}

	/** The longest time for which a client can have been started. */
	Duration longestAge(CuratorFramework client, ConfigurableListableBeanFactory beanFactory) {
		boolean ours = Arrays.stream(beanFactory.getBeanNamesForType(CuratorFramework.class, true, false))
			.anyMatch((name) -> beanFactory.containsBeanDefinition(name) && beanFactory.getBean(name) == client);
		return ours ? Duration.ofNanos(System.nanoTime() - this.startedAt)
				: Duration.ofMillis(ManagementFactory.getRuntimeMXBean().getUptime() + 1);
	}

}
