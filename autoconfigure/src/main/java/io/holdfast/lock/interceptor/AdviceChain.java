package io.holdfast.lock.interceptor;

import java.util.List;
import java.util.stream.Stream;

import org.aopalliance.aop.Advice;

import org.springframework.aop.Advisor;
import org.springframework.aop.aspectj.AbstractAspectJAdvice;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.ProxyFactoryBean;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.OrderUtils;
import org.springframework.util.ClassUtils;

/**
 * Determines the positions of the lock and of the fence in the advice chain of a proxy.
 */
final class AdviceChain {

	/**
	 * Advice that is ordered before this value guards the call, such as that of Spring
	 * Security. It stays outside the lock, unless it starts a transaction.
	 */
	static final int GUARDS_BEFORE = Ordered.LOWEST_PRECEDENCE - 100;

	private static final String TRANSACTION_ADVICE = "org.springframework.transaction.interceptor.TransactionInterceptor";

	/**
	 * The packages of advice that repeats or limits calls, of Spring Framework, Spring
	 * Retry and Resilience4j. It stays outside the lock for any order, as far as it
	 * precedes other advice: a repeated call acquires the lock again.
	 */
	private static final List<String> RESILIENCE = List.of("org.springframework.resilience.",
			"org.springframework.retry.", "io.github.resilience4j.");

	/** The name of Resilience4j's aspect, whatever the version of its package. */
	private static final String TIME_LIMIT = "TimeLimiterAspect";

	private AdviceChain() {
	}

	/**
	 * Returns whether advice may be added. A scoped proxy is excluded, because it calls a
	 * bean that has its own advice.
	 */
	static boolean isOpen(Advised proxy) {
		return !proxy.isFrozen() && !(proxy instanceof AopInfrastructureBean);
	}

	/**
	 * Returns whether a bean is the configuration of the proxies that it creates. It adds
	 * their other advice later, so they are advised themselves, unless they are opaque.
	 */
	static boolean isFactory(Object bean) {
		return bean instanceof ProxyFactoryBean factory && !factory.isOpaque();
	}

	/**
	 * Returns the position before the first transaction and before all other advice that
	 * is not ordered as a guard.
	 */
	static int positionOfLock(Advised proxy) {
		Advisor[] advisors = proxy.getAdvisors();
		int position = 0;
		while (position < advisors.length && isGuard(advisors[position])) {
			position++;
		}
		return position;
	}

	private static boolean isGuard(Advisor advisor) {
		if (isResilience(advisor.getAdvice())) {
			return true;
		}
		int order = (advisor instanceof Ordered ordered) ? ordered.getOrder()
				: OrderUtils.getOrder(advisor.getClass(), Ordered.LOWEST_PRECEDENCE);
		return order < GUARDS_BEFORE && !isTransaction(advisor.getAdvice());
	}

	private static boolean isResilience(Advice advice) {
		return RESILIENCE.stream().anyMatch(typeOf(advice).getName()::startsWith);
	}

	/**
	 * Returns whether the advice completes its result when a time is over, although the
	 * work continues.
	 */
	static boolean isTimeLimit(Advice advice) {
		return isResilience(advice) && typeOf(advice).getSimpleName().equals(TIME_LIMIT);
	}

	/** Returns the class of the advice, or that of its aspect. */
	static Class<?> typeOf(Advice advice) {
		return (advice instanceof AbstractAspectJAdvice aspect) ? aspect.getAspectJAdviceMethod().getDeclaringClass()
				: advice.getClass();
	}

	/**
	 * Returns the position after the last transaction, or after all advice if there is
	 * none. Advice after the last transaction may answer without the target, as in a
	 * Spring Data repository.
	 */
	static int positionOfFence(Advised proxy) {
		Advisor[] advisors = proxy.getAdvisors();
		for (int i = advisors.length - 1; i >= 0; i--) {
			if (isTransaction(advisors[i].getAdvice())) {
				return i + 1;
			}
		}
		return advisors.length;
	}

	/** Returns whether a proxy contains the lock itself, not in a proxy that it wraps. */
	static boolean containsLock(Advised proxy) {
		return Stream.of(proxy.getAdvisors())
			.anyMatch((advisor) -> advisor.getAdvice() instanceof DistributedLockInterceptor);
	}

	static boolean isTransaction(Advice advice) {
		for (Class<?> type = ClassUtils.getUserClass(advice); type != null; type = type.getSuperclass()) {
			if (type.getName().equals(TRANSACTION_ADVICE)) {
				return true;
			}
		}
		return false;
	}

}
