package io.holdfast.lock.transaction;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;

/**
 * Gives every transaction manager the check before the commit, whoever made it.
 */
public final class LockCommitListenerPostProcessor implements BeanPostProcessor {

	private final LockCommitListener listener = new LockCommitListener();

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		if (bean instanceof PlatformTransactionManager && bean instanceof ConfigurableTransactionManager manager) {
			manager.addListener(this.listener);
		}
		return bean;
	}

}
