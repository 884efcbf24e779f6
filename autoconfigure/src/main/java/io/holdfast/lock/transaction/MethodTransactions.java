package io.holdfast.lock.transaction;

import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.BeansException;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.interceptor.TransactionAspectSupport;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.transaction.interceptor.TransactionAttributeSource;
import org.springframework.transaction.interceptor.TransactionInterceptor;

/**
 * Knows before the first call who begins the transaction of an annotated method.
 */
public final class MethodTransactions {

	private final BeanFactory beanFactory;

	/**
	 * Create the directory.
	 * @param beanFactory where the transaction managers are
	 */
	public MethodTransactions(BeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	/**
	 * The transaction manager of a method.
	 * @param method the method
	 * @param type the class of its bean
	 * @return the transaction manager; {@code null} if the method has no transaction of
	 * its own, or it is not known whose
	 */
	public @Nullable PlatformTransactionManager managerOf(Method method, Class<?> type) {
		TransactionInterceptor interceptor = this.beanFactory.getBeanProvider(TransactionInterceptor.class)
			.getIfUnique();
		TransactionAttributeSource source = (interceptor != null) ? interceptor.getTransactionAttributeSource() : null;
		TransactionAttribute attribute = (source != null) ? source.getTransactionAttribute(method, type) : null;
		if (interceptor == null || attribute == null) {
			return null;
		}
		try {
			return new Choice(interceptor, this.beanFactory).of(attribute, type);
		}
		catch (BeansException | IllegalStateException ex) {
			// the first call fails of this, and says so
			return null;
		}
	}

	/** Chooses as Spring's own advice does. */
	private static final class Choice extends TransactionAspectSupport {

		Choice(TransactionInterceptor like, BeanFactory beanFactory) {
			setBeanFactory(beanFactory);
			if (like.getTransactionManager() != null) {
				setTransactionManager(like.getTransactionManager());
			}
		}

		@Nullable PlatformTransactionManager of(TransactionAttribute attribute, Class<?> type) {
			return (determineTransactionManager(attribute, type) instanceof PlatformTransactionManager manager)
					? manager : null;
		}

	}

}
