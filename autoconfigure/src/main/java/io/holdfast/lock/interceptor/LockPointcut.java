package io.holdfast.lock.interceptor;

import java.lang.reflect.Method;

import org.springframework.aop.ClassFilter;
import org.springframework.aop.support.StaticMethodMatcherPointcut;

/**
 * The methods that hold a lock.
 */
final class LockPointcut extends StaticMethodMatcherPointcut {

	LockPointcut() {
		setClassFilter((ClassFilter) LockAnnotations::mayBeOn);
	}

	@Override
	public boolean matches(Method method, Class<?> targetClass) {
		return LockAnnotations.find(method, targetClass) != null;
	}

}
