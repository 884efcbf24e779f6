package io.holdfast.lock.interceptor;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.event.ContextRefreshedEvent;

import io.holdfast.lock.LockConfigurationException;

/**
 * Stops the start of a child context whose beans have annotated methods and no lock: post
 * processors of a parent do not see them. Events of a child reach the listeners of its
 * parents, and an exception of theirs fails its refresh.
 */
public final class ChildContextVerifier implements ApplicationListener<ContextRefreshedEvent> {

	private static final String ENABLED = "distributed-lock.enabled";

	/**
	 * Checks a context that was refreshed.
	 * @throws LockConfigurationException if a bean runs unlocked
	 */
	@Override
	public void onApplicationEvent(ContextRefreshedEvent event) {
		ApplicationContext context = event.getApplicationContext();
		if (context instanceof ConfigurableApplicationContext child
				&& context.getEnvironment().getProperty(ENABLED, Boolean.class, true)
				&& !locksItsBeans(child.getBeanFactory())) {
			new UnlockedBeans(child.getBeanFactory()).requireNoneInChild();
		}
	}

	private static boolean locksItsBeans(ConfigurableListableBeanFactory beanFactory) {
		return beanFactory.getBeanNamesForType(DistributedLockBeanPostProcessor.class, false, false).length > 0;
	}

}
