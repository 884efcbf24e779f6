package io.holdfast.lock.interceptor;

import org.aopalliance.aop.Advice;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.util.ClassUtils;

import io.holdfast.lock.LockConfigurationException;

/**
 * Reads the finished chain of every bean that holds locks, and stops the start if a
 * transaction begins before the lock: it would end after the lock was let go.
 *
 * <p>
 * It has no order, so it runs after every post-processor that has one and sees what they
 * made.
 */
public final class LockChainVerifier implements BeanPostProcessor {

	private static final String TRANSACTION_ADVICE = "org.springframework.transaction.interceptor.TransactionInterceptor";

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		if (bean instanceof Advised proxy && holdsLocks(proxy)) {
			verify(proxy, beanName);
		}
		return bean;
	}

	/** Whether the lock stands in this proxy, or in one that it wraps. */
	private static boolean holdsLocks(Advised proxy) {
		for (Advisor advisor : proxy.getAdvisors()) {
			if (advisor.getAdvice() instanceof DistributedLockInterceptor) {
				return true;
			}
		}
		return AopProxyUtils.getSingletonTarget(proxy) instanceof Advised inner && holdsLocks(inner);
	}

	/** Walk from the outside to the lock; no transaction may stand on the way. */
	private static void verify(Advised proxy, String beanName) {
		for (Advisor advisor : proxy.getAdvisors()) {
			Advice advice = advisor.getAdvice();
			if (advice instanceof DistributedLockInterceptor) {
				return;
			}
			if (isTransaction(advice.getClass())) {
				throw new LockConfigurationException(
						"The bean '%s' begins its transaction before it acquires its lock: advice %s stands outside of @DistributedLock, so the lock would be let go before the commit and updates would be lost. Find the post-processor or proxy factory that put it there, and let it add its advice at the end of the chain."
							.formatted(beanName, advice.getClass().getName()));
			}
		}
		if (AopProxyUtils.getSingletonTarget(proxy) instanceof Advised inner) {
			verify(inner, beanName);
		}
	}

	private static boolean isTransaction(Class<?> advice) {
		for (Class<?> type = ClassUtils.getUserClass(advice); type != null; type = type.getSuperclass()) {
			if (type.getName().equals(TRANSACTION_ADVICE)) {
				return true;
			}
		}
		return false;
	}

}
