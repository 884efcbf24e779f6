package io.holdfast.lock.interceptor;

import java.lang.reflect.Field;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Finds the objects that a proxy of the application's own stands for.
 */
final class HandlerTargets {

	private HandlerTargets() {
	}

	/** Returns the object behind all proxies of Spring. */
	static Object behindAdvice(Object bean) {
		Object target = (bean instanceof Advised proxy) ? AopProxyUtils.getSingletonTarget(proxy) : null;
		return (target != null) ? behindAdvice(target) : bean;
	}

	/**
	 * Returns the objects with locks in the fields of the handler of a proxy. Empty for
	 * the proxies of Spring, and for any other object.
	 */
	static List<Object> of(Object proxy) {
		if (!Proxy.isProxyClass(proxy.getClass()) || proxy instanceof Advised) {
			return List.of();
		}
		InvocationHandler handler = Proxy.getInvocationHandler(proxy);
		List<Object> targets = new ArrayList<>();
		try {
			ReflectionUtils.doWithFields(handler.getClass(), (field) -> {
				Object value = value(field, handler);
				if (value != null && LockAnnotations.mayBeOn(value.getClass())) {
					targets.add(value);
				}
			});
		}
		catch (IllegalStateException ex) {
			// the class has a field of a type that is missing, so its fields are unknown
		}
		return targets;
	}

	private static @Nullable Object value(Field field, Object owner) throws IllegalAccessException {
		return (!Modifier.isStatic(field.getModifiers()) && field.trySetAccessible()) ? field.get(owner) : null;
	}

	/** Returns the methods of the interfaces that a proxy shares with a target. */
	static Stream<Method> shared(Object proxy, Object target) {
		return Stream.of(proxy.getClass().getInterfaces())
			.filter((type) -> type.isInstance(target))
			.flatMap((type) -> Stream.of(type.getMethods()));
	}

}
