package io.holdfast.lock.transaction;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionExecutionListener;

/**
 * Gives every transaction manager a listener, whoever made it.
 */
public final class TransactionListenerPostProcessor implements BeanPostProcessor {

	private final TransactionExecutionListener listener;

	/**
	 * Create the post-processor; to be declared as a {@code static} bean method.
	 * @param listener the listener
	 */
	public TransactionListenerPostProcessor(TransactionExecutionListener listener) {
		this.listener = listener;
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		if (bean instanceof PlatformTransactionManager && bean instanceof ConfigurableTransactionManager manager) {
			manager.addListener(this.listener);
		}
		return bean;
	}

}
