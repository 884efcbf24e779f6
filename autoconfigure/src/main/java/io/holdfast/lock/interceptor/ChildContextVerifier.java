package io.holdfast.lock.interceptor;

import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.event.ContextRefreshedEvent;

import io.holdfast.lock.LockConfigurationException;

/**
 * Prevents the startup of a child context whose beans have annotated methods but no
 * locks. Bean post-processors of a parent context do not see these beans. Events of a
 * child context reach the listeners of its parents, and an exception of a listener fails
 * its refresh.
 */
public final class ChildContextVerifier implements ApplicationListener<ContextRefreshedEvent> {

	private static final String ENABLED = "distributed-lock.enabled";

	/**
	 * Verifies a context that was refreshed.
	 * @throws LockConfigurationException if a bean runs without its lock
	 */
	@Override
	public void onApplicationEvent(ContextRefreshedEvent event) {
		ApplicationContext context = event.getApplicationContext();
		if (context instanceof ConfigurableApplicationContext child
				&& context.getEnvironment().getProperty(ENABLED, Boolean.class, true)
				&& !UnlockedBeans.areLocked(child.getBeanFactory())) {
			new UnlockedBeans(child.getBeanFactory()).requireNoneInChild();
		}
	}

}
