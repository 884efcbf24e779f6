package io.holdfast.lock.interceptor;

import java.util.function.Supplier;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.support.DefaultPointcutAdvisor;

import io.holdfast.lock.fencing.Fence;

/**
 * Adds the fence immediately after the transaction of a bean with locks, before its body.
 */
public final class FenceBeanPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor {

	private final transient Supplier<@Nullable Fence> fence;

	/**
	 * Creates the post-processor; to be declared as a {@code static} bean method.
	 * @param fence the fence, looked up at the first call; {@code null} if nothing is
	 * fenced
	 */
	public FenceBeanPostProcessor(Supplier<@Nullable Fence> fence) {
		setOrder(DistributedLockBeanPostProcessor.ORDER + 1);
		this.fence = fence;
		this.advisor = advisor(null);
	}

	private Advisor advisor(@Nullable Class<?> type) {
		return new DefaultPointcutAdvisor(new LockPointcut(type), new FenceInterceptor(this.fence, type));
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		if (AdviceChain.isFactory(bean)) {
			return bean;
		}
		Class<?> type = LockedType.of(bean);
		Advised proxy = (bean instanceof Advised outer) ? innermost(outer, type) : null;
		if (proxy != null && AdviceChain.isOpen(proxy) && this.advisor != null && isEligible(type)) {
			// several proxies may wrap the same one, each time with the same fence
			if (!containsFence(proxy)) {
				boolean own = LockedType.isTarget(type, proxy);
				proxy.addAdvisor(AdviceChain.positionOfFence(proxy), own ? this.advisor : advisor(type));
			}
			return bean;
		}
		return super.postProcessAfterInitialization(bean, beanName);
	}

	private boolean containsFence(Advised proxy) {
		return Stream.of(proxy.getAdvisors())
			.anyMatch(
					(advisor) -> advisor.getAdvice() instanceof FenceInterceptor present && present.passes(this.fence));
	}

	/**
	 * Returns the proxy that calls the body. A proxy around it, such as that of an
	 * aspect, is outside the transaction.
	 */
	private static Advised innermost(Advised proxy, Class<?> type) {
		return (AopProxyUtils.getSingletonTarget(proxy) instanceof Advised inner && AdviceChain.isOpen(inner)
				&& LockedType.of(inner) == type) ? innermost(inner, type) : proxy;
	}

}
