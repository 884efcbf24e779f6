package io.holdfast.lock.transaction;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import javax.sql.DataSource;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.ResourceTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Adds a listener to every transaction manager, regardless of how it was created: to
 * managers that are beans of this context or its parents, and to those of templates. A
 * manager that another post-processor needs gets its listener when all singletons exist.
 */
public final class TransactionListenerPostProcessor
		implements BeanPostProcessor, BeanFactoryAware, SmartInitializingSingleton {

	private static final Log logger = LogFactory.getLog(TransactionListenerPostProcessor.class);

	private final TransactionExecutionListener listener;

	private final @Nullable String without;

	/** The managers that have been named in a warning. */
	private final Set<String> named = ConcurrentHashMap.newKeySet();

	private @Nullable BeanFactory beanFactory;

	/**
	 * Creates the post-processor; to be declared as a {@code static} bean method.
	 * @param listener the listener
	 * @param without what is missing from the transactions of a manager that accepts no
	 * listener, logged as a warning; {@code null}: not logged
	 */
	public TransactionListenerPostProcessor(TransactionExecutionListener listener, @Nullable String without) {
		this.listener = listener;
		this.without = without;
	}

	@Override
	public void setBeanFactory(BeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		if (bean instanceof PlatformTransactionManager manager) {
			listenTo(manager, beanName);
		}
		else if (bean instanceof TransactionTemplate template) {
			listenTo(template.getTransactionManager(), beanName);
		}
		return bean;
	}

	@Override
	public void afterSingletonsInstantiated() {
		BeanFactory beans = this.beanFactory;
		while (beans instanceof ConfigurableListableBeanFactory context) {
			for (String name : context.getBeanNamesForType(PlatformTransactionManager.class, false, false)) {
				if (context.getSingleton(name) instanceof PlatformTransactionManager manager) {
					listenTo(manager, name);
				}
			}
			beans = (context.getParentBeanFactory() instanceof ConfigurableApplicationContext parent)
					? parent.getBeanFactory() : context.getParentBeanFactory();
		}
	}

	private void listenTo(@Nullable PlatformTransactionManager manager, String beanName) {
		if (manager instanceof ConfigurableTransactionManager configurable) {
			if (!configurable.getTransactionExecutionListeners().contains(this.listener)) {
				addListener(configurable);
			}
			// messaging managers never synchronize, and have no rows that a lock protects
			if (manager instanceof AbstractPlatformTransactionManager synchronizing
					&& synchronizing
						.getTransactionSynchronization() == AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER
					&& manager instanceof ResourceTransactionManager resources
					&& resources.getResourceFactory() instanceof DataSource) {
				warnOnce(beanName, manager, "runs no callbacks (SYNCHRONIZATION_NEVER)",
						"Allow synchronization, or take no locks in its transactions.");
			}
		}
		else if (manager != null) {
			warnOnce(beanName, manager, "accepts no listener",
					"Make it a ConfigurableTransactionManager, or ignore this if it only calls managers that are beans.");
		}
	}

	/**
	 * Replaces the listeners, because transactions of a parent may iterate over them. A
	 * manager of a parent keeps the listener when this context closes: a transaction may
	 * still have to learn that its lock was lost.
	 */
	private void addListener(ConfigurableTransactionManager manager) {
		synchronized (manager) {
			List<TransactionExecutionListener> listeners = new ArrayList<>(manager.getTransactionExecutionListeners());
			listeners.add(this.listener);
			manager.setTransactionExecutionListeners(listeners);
		}
	}

	private void warnOnce(String beanName, PlatformTransactionManager manager, String fact, String remedy) {
		if (this.without != null && this.named.add(beanName)) {
			logger.warn("Transaction manager '%s' (%s) %s: %s. %s".formatted(beanName, manager.getClass().getName(),
					fact, this.without, remedy));
		}
	}

}
