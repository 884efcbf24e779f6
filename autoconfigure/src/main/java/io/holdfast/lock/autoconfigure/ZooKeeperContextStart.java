package io.holdfast.lock.autoconfigure;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Arrays;

import org.apache.curator.framework.CuratorFramework;

import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * Records when this application context started to create its beans. A client bean of
 * this context has no session older than that; any other client may be as old as the JVM.
 */
final class ZooKeeperContextStart implements BeanFactoryPostProcessor {

	private final long startedAt = System.nanoTime();

	@Override
	public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {
	}

	/** Returns an upper bound for the time since a client was started. */
	Duration longestAge(CuratorFramework client, ConfigurableListableBeanFactory beanFactory) {
		boolean ours = Arrays.stream(beanFactory.getBeanNamesForType(CuratorFramework.class, true, false))
			.anyMatch((name) -> beanFactory.containsBeanDefinition(name) && beanFactory.getBean(name) == client);
		return ours ? Duration.ofNanos(System.nanoTime() - this.startedAt)
				: Duration.ofMillis(ManagementFactory.getRuntimeMXBean().getUptime() + 1);
	}

}
