package io.holdfast.lock.interceptor;

import java.lang.reflect.Proxy;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.target.EmptyTargetSource;

import io.holdfast.lock.LockConfigurationException;

/**
 * Determines the type whose annotations apply to a bean or a call.
 */
final class LockedType {

	private LockedType() {
	}

	/**
	 * Returns the class of the target. If the target does not implement an annotated
	 * interface of its proxy, as in a Spring Data repository, returns that interface, and
	 * also if there is no target, as in a client of HTTP: the class of the proxy has
	 * methods of Spring, too. A proxy around another one, such as that of an aspect
	 * around a repository, has the type of the inner one.
	 */
	static Class<?> of(Object bean) {
		Class<?> type = AopUtils.getTargetClass(bean);
		if (!(bean instanceof Advised proxy)) {
			return type;
		}
		Class<?> target = hasTarget(proxy) ? type : proxy.getTargetClass();
		List<Class<?>> annotated = annotatedBeside(target, proxy);
		if (annotated.isEmpty()) {
			// the class of an inner proxy says nothing about what that proxy stands for
			return (AopProxyUtils.getSingletonTarget(proxy) instanceof Advised inner) ? of(inner) : type;
		}
		if (target != null) {
			requireNoLockOf(target, annotated.get(0));
		}
		return (annotated.size() > 1) ? ofAll(annotated, bean) : annotated.get(0);
	}

	/**
	 * Returns the annotated interfaces of a proxy that its target does not implement,
	 * without those that another one extends.
	 */
	private static List<Class<?>> annotatedBeside(@Nullable Class<?> target, Advised proxy) {
		List<Class<?>> annotated = Stream.of(proxy.getProxiedInterfaces())
			.filter((each) -> target == null || !each.isAssignableFrom(target))
			.filter((each) -> !LockAnnotations.methods(each).isEmpty())
			.toList();
		return annotated.stream()
			.filter((each) -> annotated.stream().noneMatch((other) -> other != each && each.isAssignableFrom(other)))
			.toList();
	}

	/** The class of a proxy has all its interfaces, unless it extends another class. */
	private static Class<?> ofAll(List<Class<?>> interfaces, Object proxy) {
		if (!Proxy.isProxyClass(proxy.getClass())) {
			throw new LockConfigurationException(
					"The proxy of the class '%s' adds several interfaces that have methods with a lock, %s, but only those of one would have it. Declare these methods in one interface, or in one that extends the others, or proxy interfaces ('proxyTargetClass = false')."
						.formatted(AopUtils.getTargetClass(proxy).getName(),
								interfaces.stream()
									.map((each) -> "'" + each.getName() + "'")
									.collect(Collectors.joining(" and "))));
		}
		return proxy.getClass();
	}

	/**
	 * Whether calls tell the type by their target. A proxy without a target has none, and
	 * an inner proxy tells the class behind it, not its own.
	 */
	static boolean isTarget(Class<?> type, Advised proxy) {
		return hasTarget(proxy) && type == AopUtils.getTargetClass(proxy)
				&& !(AopProxyUtils.getSingletonTarget(proxy) instanceof Advised);
	}

	/** The class of a target that is created later, or for each call, may be unknown. */
	private static boolean hasTarget(Advised proxy) {
		return !(proxy.getTargetSource() instanceof EmptyTargetSource);
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
