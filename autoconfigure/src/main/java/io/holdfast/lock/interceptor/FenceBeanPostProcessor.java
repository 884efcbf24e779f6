package io.holdfast.lock.interceptor;

import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.support.DefaultPointcutAdvisor;

import io.holdfast.lock.fencing.Fence;

/**
 * Puts the fence behind every advisor that a bean with locks already has: inside of its
 * transaction, right before the body.
 */
public final class FenceBeanPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor {

	/**
	 * Create the post-processor; to be declared as a {@code static} bean method.
	 * @param fence the fence, looked up at the first call; {@code null} if nothing is
	 * fenced
	 */
	public FenceBeanPostProcessor(Supplier<@Nullable Fence> fence) {
		setOrder(DistributedLockBeanPostProcessor.ORDER);
		this.advisor = new DefaultPointcutAdvisor(new LockPointcut(), new FenceInterceptor(fence));
	}

}
