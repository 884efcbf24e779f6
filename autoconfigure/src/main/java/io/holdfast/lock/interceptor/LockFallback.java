package io.holdfast.lock.interceptor;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;

import org.jspecify.annotations.Nullable;

import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockNotAcquiredException;

/**
 * The method of the same class that is called if the lock was not acquired.
 *
 * @param method the method
 * @param withReason whether it declares a parameter for the reason
 */
record LockFallback(Method method, boolean withReason) {

	/**
	 * Finds the fallback of a method.
	 * @throws LockConfigurationException if there is no suitable method
	 */
	static LockFallback find(String name, Method instead, Class<?> targetClass) {
		Class<?>[] parameters = instead.getParameterTypes();
		Class<?>[] withReason = Arrays.copyOf(parameters, parameters.length + 1);
		withReason[parameters.length] = LockNotAcquiredException.class;
		Method method = ReflectionUtils.findMethod(targetClass, name, withReason);
		boolean reason = method != null;
		if (method == null) {
			method = ReflectionUtils.findMethod(targetClass, name, parameters);
		}
		if (method == null || method.equals(instead)
				|| !ClassUtils.isAssignable(instead.getReturnType(), method.getReturnType())
				|| Modifier.isStatic(method.getModifiers())) {
			throw new LockConfigurationException(
					"@DistributedLock on %s: there is no suitable fallback '%s'. It must be another instance method of %s with the parameters %s, optionally followed by a LockNotAcquiredException, and a return type compatible with %s."
						.formatted(MethodText.of(instead), name, targetClass.getName(), Arrays.toString(parameters),
								instead.getReturnType().getName()));
		}
		if (AnnotatedElementUtils.hasAnnotation(method, DistributedLock.class)) {
			throw LockMethodSpecs.problem(instead,
					"its fallback '%s' is @DistributedLock, too, but is called without that lock. Remove the annotation from the fallback, or let the fallback call a method of another bean"
						.formatted(name));
		}
		ReflectionUtils.makeAccessible(method);
		return new LockFallback(method, reason);
	}

	@Nullable Object call(@Nullable Object target, @Nullable Object[] arguments, LockNotAcquiredException reason)
			throws Throwable {
		@Nullable Object[] all = arguments;
		if (this.withReason) {
			all = Arrays.copyOf(arguments, arguments.length + 1);
			all[arguments.length] = reason;
		}
		try {
			return this.method.invoke(target, all);
		}
		catch (InvocationTargetException ex) {
			throw ex.getTargetException();
		}
	}

}
