package io.holdfast.lock.interceptor;

import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.ClassFilter;
import org.springframework.aop.support.StaticMethodMatcherPointcut;

/**
 * Matches the methods that hold a lock.
 */
final class LockPointcut extends StaticMethodMatcherPointcut {

	private final @Nullable Class<?> type;

	/**
	 * Creates the pointcut.
	 * @param type the type whose annotations apply, instead of the target's class;
	 * {@code null}: the target's class
	 */
	LockPointcut(@Nullable Class<?> type) {
		this.type = type;
		setClassFilter((ClassFilter) (target) -> type != null || LockAnnotations.mayBeOn(target));
	}

	@Override
	public boolean matches(Method method, Class<?> targetClass) {
		return LockAnnotations.find(method, (this.type != null) ? this.type : targetClass) != null;
	}

}
