package io.holdfast.lock.interceptor;

import java.lang.reflect.Method;
import java.util.Set;

import org.aopalliance.aop.Advice;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.Advisor;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.interceptor.AsyncExecutionInterceptor;
import org.springframework.beans.factory.config.BeanPostProcessor;

import io.holdfast.lock.LockConfigurationException;

/**
 * Verifies the completed chain of every bean that holds locks. Prevents startup if a
 * transaction starts before the lock, because it would end after the lock was released.
 * Also prevents startup if the call moves to another thread after the lock, because that
 * thread would not hold the lock, or if a time limit would end the hold before the work.
 *
 * <p>
 * Has no order, so it runs after every ordered post-processor and sees its result.
 */
public final class LockChainVerifier implements BeanPostProcessor {

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		if (bean instanceof Advised proxy && holdsLocks(proxy)) {
			verify(proxy, false, LockedType.of(bean), beanName);
		}
		return bean;
	}

	/** Returns whether this proxy, or one that it wraps, contains the lock. */
	private static boolean holdsLocks(Advised proxy) {
		return AdviceChain.containsLock(proxy)
				|| (AopProxyUtils.getSingletonTarget(proxy) instanceof Advised inner && holdsLocks(inner));
	}

	/**
	 * Traverses the chain from the outside to the body.
	 * @param type the type whose annotations apply
	 */
	private static void verify(Advised proxy, boolean locked, Class<?> type, String beanName) {
		boolean inside = locked;
		Advice first = null;
		for (Advisor advisor : proxy.getAdvisors()) {
			Advice advice = advisor.getAdvice();
			if (inside && advice instanceof AsyncExecutionInterceptor) {
				throw new LockConfigurationException(
						"The bean '%s' acquires its lock on the caller's thread but runs its method on another thread, without the lock: advice %s is inside @DistributedLock. Remove the order of @EnableAsync, or move @DistributedLock to a bean that the asynchronous method calls."
							.formatted(beanName, advice.getClass().getName()));
			}
			if (inside && AdviceChain.isTimeLimit(advice) && appliesToLock(advisor, type, proxy)) {
				throw limited(advice, first, beanName);
			}
			if (!inside && AdviceChain.isTransaction(advice)) {
				throw new LockConfigurationException(
						"The bean '%s' starts its transaction before it acquires its lock: advice %s is outside @DistributedLock, so the lock would be released before the commit and updates would be lost. Find the post-processor or proxy factory that adds this advice, and let it add the advice at the end of the chain."
							.formatted(beanName, advice.getClass().getName()));
			}
			first = (inside && first == null) ? advice : first;
			inside |= advice instanceof DistributedLockInterceptor;
		}
		if (AopProxyUtils.getSingletonTarget(proxy) instanceof Advised inner) {
			verify(inner, inside, type, beanName);
		}
	}

	/** Returns whether the advice runs inside the lock of any method. */
	private static boolean appliesToLock(Advisor advisor, Class<?> type, Advised proxy) {
		Set<Method> locked = LockAnnotations.methods(type);
		Class<?> target = AopProxyUtils.ultimateTargetClass(proxy);
		return locked.isEmpty() || !(advisor instanceof PointcutAdvisor matching) || locked.stream()
			.anyMatch((method) -> matching.getPointcut().getMethodMatcher().matches(method, target));
	}

	/**
	 * Creates the failure of a time limit.
	 * @param first the first advice inside the lock, which precedes the time limit
	 */
	private static LockConfigurationException limited(Advice limit, @Nullable Advice first, String beanName) {
		return new LockConfigurationException(
				"The bean '%s' has a time limit inside its lock: the result that %s completes when the time is over would release the lock, although the work continues. Order this aspect before %s, with 'resilience4j.timelimiter.time-limiter-aspect-order'."
					.formatted(beanName, AdviceChain.typeOf(limit).getName(), (first != null)
							? "the advice " + AdviceChain.typeOf(first).getName() : "all advice inside the lock"));
	}

}
