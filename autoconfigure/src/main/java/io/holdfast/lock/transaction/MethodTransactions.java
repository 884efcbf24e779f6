package io.holdfast.lock.transaction;

import java.lang.reflect.Method;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.BeansException;
import org.springframework.beans.DirectFieldAccessor;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.interceptor.TransactionAspectSupport;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.transaction.interceptor.TransactionAttributeSource;
import org.springframework.transaction.interceptor.TransactionInterceptor;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.holdfast.lock.spi.TransactionBoundary.LockedCall;
import io.holdfast.lock.support.FinishedTransaction;

/**
 * Determines the transaction manager of an annotated method, and suspends a caller's
 * transaction for it.
 */
public final class MethodTransactions {

	private final BeanFactory beanFactory;

	/**
	 * Creates an instance.
	 * @param beanFactory the factory of the transaction managers
	 */
	public MethodTransactions(BeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	/**
	 * Returns the transaction manager of a method.
	 * @param method the method
	 * @param type the class of its bean
	 * @return the transaction manager; {@code null} if the method has no transaction of
	 * its own, or if its manager is not known
	 */
	public @Nullable PlatformTransactionManager managerOf(Method method, Class<?> type) {
		TransactionInterceptor interceptor = interceptor();
		TransactionAttribute attribute = attribute(interceptor, method, type);
		return (interceptor != null && attribute != null) ? manager(interceptor, attribute, type) : null;
	}

	/**
	 * Returns why a method never runs in a transaction that can be fenced, whatever
	 * transaction its caller has.
	 * @param method the method
	 * @param type the class of its bean
	 * @return the reason with the remedy, or {@code null} if that depends on the call
	 */
	public @Nullable String unfencedReason(Method method, Class<?> type) {
		TransactionAttribute attribute = attribute(interceptor(), method, type);
		int propagation = (attribute != null) ? attribute.getPropagationBehavior()
				: TransactionDefinition.PROPAGATION_REQUIRED;
		if (propagation == TransactionDefinition.PROPAGATION_NEVER
				|| propagation == TransactionDefinition.PROPAGATION_NOT_SUPPORTED) {
			return "it never runs in a transaction, because its propagation is NEVER or NOT_SUPPORTED. Use another propagation, such as REQUIRED, or remove 'fenced' and use a FencingGuard";
		}
		return (attribute != null && attribute.isReadOnly()
				&& propagation == TransactionDefinition.PROPAGATION_REQUIRES_NEW)
						? "its transaction is always read-only. Remove 'readOnly', or remove 'fenced'" : null;
	}

	/**
	 * Runs a locked call. Suspends the caller's transaction meanwhile if the method
	 * always has its own ({@code REQUIRES_NEW}). Its lock then surrounds only that
	 * transaction.
	 * @param method the method
	 * @param type the class of its bean
	 * @param call acquires the locks, calls the method and releases the locks
	 * @param <T> the type of the result
	 * @param <E> the type of the exceptions
	 * @return the result of the call
	 * @throws E if the call throws it
	 */
	public <T extends @Nullable Object, E extends Throwable> T run(Method method, Class<?> type, LockedCall<T, E> call)
			throws E {
		PlatformTransactionManager manager = managerToSuspend(method, type);
		return (manager != null) ? SuspendedTransactions.outside(Stream.of(manager), call) : call.run();
	}

	private @Nullable PlatformTransactionManager managerToSuspend(Method method, Class<?> type) {
		if (!TransactionSynchronizationManager.isActualTransactionActive() || FinishedTransaction.isCurrent()) {
			return null;
		}
		TransactionInterceptor interceptor = interceptor();
		TransactionAttribute attribute = attribute(interceptor, method, type);
		return (interceptor != null && attribute != null
				&& attribute.getPropagationBehavior() == TransactionDefinition.PROPAGATION_REQUIRES_NEW)
						? manager(interceptor, attribute, type) : null;
	}

	private @Nullable TransactionInterceptor interceptor() {
		return this.beanFactory.getBeanProvider(TransactionInterceptor.class).getIfUnique();
	}

	private static @Nullable TransactionAttribute attribute(@Nullable TransactionInterceptor interceptor, Method method,
			Class<?> type) {
		TransactionAttributeSource source = (interceptor != null) ? interceptor.getTransactionAttributeSource() : null;
		return (source != null) ? source.getTransactionAttribute(method, type) : null;
	}

	private @Nullable PlatformTransactionManager manager(TransactionInterceptor interceptor,
			TransactionAttribute attribute, Class<?> type) {
		try {
			return new Choice(interceptor, this.beanFactory).of(attribute, type);
		}
		catch (BeansException | IllegalStateException ex) {
			// the first call fails for the same reason and reports it
			return null;
		}
	}

	/** Selects the transaction manager as Spring's own advice does. */
	private static final class Choice extends TransactionAspectSupport {

		/** Has no public getter. XML sets it. */
		private static final String BEAN_NAME = "transactionManagerBeanName";

		Choice(TransactionInterceptor like, BeanFactory beanFactory) {
			setBeanFactory(beanFactory);
			DirectFieldAccessor fields = new DirectFieldAccessor(like);
			if (fields.isReadableProperty(BEAN_NAME) && fields.getPropertyValue(BEAN_NAME) instanceof String name) {
				setTransactionManagerBeanName(name);
			}
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
