package io.holdfast.lock.transaction;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionExecutionListener;

/**
 * Adds a listener to every transaction manager, regardless of how it was created.
 */
public final class TransactionListenerPostProcessor implements BeanPostProcessor {

	private final TransactionExecutionListener listener;

	/**
	 * Creates the post-processor; to be declared as a {@code static} bean method.
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
