package io.holdfast.lock.interceptor;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.beans.factory.FactoryBean;
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
	 * Returns the objects with locks in the fields of the handler of a proxy, or of a
	 * factory bean that the handler captures. Empty for the proxies of Spring, and for
	 * any other object.
	 */
	static List<Object> of(Object proxy) {
		if (!Proxy.isProxyClass(proxy.getClass()) || proxy instanceof Advised) {
			return List.of();
		}
		List<Object> targets = new ArrayList<>();
		collect(Proxy.getInvocationHandler(proxy), targets);
		return targets;
	}

	private static void collect(Object owner, List<Object> targets) {
		try {
			ReflectionUtils.doWithFields(owner.getClass(), (field) -> {
				Object value = value(field, owner);
				if (value != null && mayHaveLock(value)) {
					targets.add(value);
				}
				else if (value instanceof FactoryBean && !(owner instanceof FactoryBean)) {
					collect(value, targets);
				}
			});
		}
		catch (IllegalStateException ex) {
			// the class has a field of a type that is missing, so its fields are unknown
		}
	}

	private static boolean mayHaveLock(Object value) {
		try {
			return LockAnnotations.mayBeOn(value.getClass());
		}
		catch (IllegalStateException ex) {
			// the class has a method with a type that is missing
			return false;
		}
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
