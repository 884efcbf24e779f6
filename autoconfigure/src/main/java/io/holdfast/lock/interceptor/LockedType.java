package io.holdfast.lock.interceptor;

import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.AopUtils;

/**
 * The type whose annotations count for a bean.
 */
final class LockedType {

	private LockedType() {
	}

	/**
	 * The class of the target; of a proxy whose target does not implement what the proxy
	 * does, such as a Spring Data repository, the annotated interface.
	 */
	static Class<?> of(Object bean) {
		Class<?> target = AopUtils.getTargetClass(bean);
		if (bean instanceof Advised proxy) {
			for (Class<?> type : proxy.getProxiedInterfaces()) {
				if (!type.isAssignableFrom(target) && !LockAnnotations.methods(type).isEmpty()) {
					return type;
				}
			}
		}
		return target;
	}

}
