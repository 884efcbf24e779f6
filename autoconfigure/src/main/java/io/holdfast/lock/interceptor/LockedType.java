package io.holdfast.lock.interceptor;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.AopUtils;

import io.holdfast.lock.LockConfigurationException;

/**
 * Determines the type whose annotations apply to a bean or a call.
 */
final class LockedType {

	private LockedType() {
	}

	/**
	 * Returns the class of the target. If the target does not implement an annotated
	 * interface of its proxy, as in a Spring Data repository, returns that interface.
	 */
	static Class<?> of(Object bean) {
		Class<?> target = AopUtils.getTargetClass(bean);
		if (bean instanceof Advised proxy) {
			for (Class<?> type : proxy.getProxiedInterfaces()) {
				if (!type.isAssignableFrom(target) && !LockAnnotations.methods(type).isEmpty()) {
					requireNoLockOf(target, type);
					return type;
				}
			}
		}
		return target;
	}

	private static void requireNoLockOf(Class<?> target, Class<?> type) {
		if (!LockAnnotations.methods(target).isEmpty()) {
			throw new LockConfigurationException(
					"The interface '%s' and the class '%s' behind it both have methods with a lock, but only those of the interface would have it. Declare the locked methods of the class in the interface, with their annotations, and remove the annotations from the class."
						.formatted(type.getName(), target.getName()));
		}
	}

	/**
	 * Returns the type whose annotations apply to a call.
	 * @param annotated the type, or {@code null} for the class of the target
	 */
	static Class<?> of(MethodInvocation invocation, @Nullable Class<?> annotated) {
		if (annotated != null) {
			return annotated;
		}
		Object target = invocation.getThis();
		return (target != null) ? AopUtils.getTargetClass(target) : invocation.getMethod().getDeclaringClass();
	}

}
