package io.holdfast.lock.interceptor;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.Arrays;
import java.util.concurrent.Future;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.resilience.annotation.ConcurrencyLimit;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

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
			throw LockMethodSpecs.problem(instead,
					"there is no suitable fallback '%s'. It must be another instance method of %s with the parameters %s, optionally followed by a LockNotAcquiredException, and a return type compatible with %s."
						.formatted(name, targetClass.getName(), Arrays.toString(parameters),
								instead.getReturnType().getName()));
		}
		requireCallable(method, instead, targetClass);
		ReflectionUtils.makeAccessible(method);
		return new LockFallback(method, reason);
	}

	private static void requireCallable(Method method, Method instead, Class<?> targetClass) {
		if (LockAnnotations.find(method, targetClass) != null) {
			throw LockMethodSpecs.problem(instead,
					"its fallback '%s' is @DistributedLock, too, itself or by its class, but a fallback runs without a lock. Remove the annotation from the fallback, mark it @Unlocked, or let it call a method of another bean"
						.formatted(method.getName()));
		}
		if (Future.class.isAssignableFrom(method.getReturnType()) && LockMethodSpecs.isAsync(instead, targetClass)
				&& LockMethodSpecs.isAsync(method, targetClass) && !Modifier.isPrivate(method.getModifiers())) {
			throw LockMethodSpecs.problem(instead,
					"it is @Async and its fallback '%s' is, too, itself or by its class, so one thread would wait for another of the same executor. Make the fallback private: it then runs on the thread of the method"
						.formatted(method.getName()));
		}
		if (hasLimitOf(targetClass, instead) && hasLimitOf(targetClass, method)
				&& !Modifier.isPrivate(method.getModifiers())) {
			throw LockMethodSpecs.problem(instead,
					"it and its fallback '%s' share the @ConcurrencyLimit of their class, so the call would wait for itself. Make the fallback private, or annotate one of the methods with a limit of its own"
						.formatted(method.getName()));
		}
	}

	/** Whether a method has the limit that all methods of its class share. */
	private static boolean hasLimitOf(Class<?> targetClass, Method method) {
		return AnnotatedElementUtils.hasAnnotation(targetClass, ConcurrencyLimit.class)
				&& !AnnotatedElementUtils.hasAnnotation(method, ConcurrencyLimit.class);
	}

	/**
	 * Calls the fallback like any other method of the bean, with the advice of its own
	 * annotations, or on the target if the proxy does not have the method.
	 */
	@Nullable Object call(MethodInvocation invocation, LockNotAcquiredException reason) throws Throwable {
		@Nullable Object[] arguments = invocation.getArguments();
		if (this.withReason) {
			arguments = Arrays.copyOf(arguments, arguments.length + 1);
			arguments[arguments.length - 1] = reason;
		}
		Object proxy = (invocation instanceof ProxyMethodInvocation call) ? call.getProxy() : null;
		Method advised = (proxy != null) ? advised(proxy) : null;
		try {
			return (advised != null) ? advised.invoke(proxy, arguments)
					: this.method.invoke(invocation.getThis(), arguments);
		}
		catch (InvocationTargetException ex) {
			throw thrown(ex.getTargetException());
		}
	}

	/**
	 * Unwraps what the proxy has wrapped because the fallback does not declare it. The
	 * proxy wraps it again, unless the locked method declares it.
	 */
	private static Throwable thrown(Throwable byProxy) {
		return (byProxy instanceof UndeclaredThrowableException && byProxy.getCause() != null) ? byProxy.getCause()
				: byProxy;
	}

	/**
	 * Returns the method of the proxy. The proxy of a class overrides only what is
	 * visible and not final, and has none of the fields that other methods use.
	 */
	private @Nullable Method advised(Object proxy) {
		Method found = Proxy.isProxyClass(proxy.getClass())
				? ClassUtils.getInterfaceMethodIfPossible(this.method, proxy.getClass()) : overriding(proxy.getClass());
		if (found == null || !found.getDeclaringClass().isInstance(proxy)) {
			return null;
		}
		ReflectionUtils.makeAccessible(found);
		return found;
	}

	private @Nullable Method overriding(Class<?> proxyClass) {
		try {
			return proxyClass.getDeclaredMethod(this.method.getName(), this.method.getParameterTypes());
		}
		catch (NoSuchMethodException ex) {
			return null;
		}
	}

}
