package io.holdfast.lock.interceptor;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.AopConfigException;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockConfigurationException;

/**
 * Verifies every annotated method of a class before the first call. A method that no
 * proxy can intercept, or whose annotation can never work, prevents startup.
 */
final class LockMethodVerifier {

	private final LockMethodSpecs specs;

	LockMethodVerifier(LockMethodSpecs specs) {
		this.specs = specs;
	}

	/**
	 * Verifies the class of a bean.
	 * @return the specs of its annotated methods
	 * @throws LockConfigurationException if one of them can never work
	 */
	List<LockMethodSpec> verify(Class<?> type) {
		Class<?> userType = ClassUtils.getUserClass(type);
		List<LockMethodSpec> found = new ArrayList<>();
		Set<Method> methods = LockAnnotations.methods(userType);
		methods.forEach((method) -> found.add(verify(method, userType)));
		if (!methods.isEmpty()) {
			ReflectionUtils.doWithMethods(userType, (bridge) -> requireSameAsBridged(bridge, userType),
					Method::isBridge);
		}
		return found;
	}

	/**
	 * Kotlin appends a hash to the name of a function with a value class. If it overrides
	 * a generic one, its bridge has another name than it, and neither inherits the
	 * annotation of the other.
	 */
	private static void requireSameAsBridged(Method bridge, Class<?> type) {
		for (Method method : ReflectionUtils.getDeclaredMethods(bridge.getDeclaringClass())) {
			if (!method.isBridge() && method.getName().startsWith(bridge.getName() + "-")
					&& method.getParameterCount() == bridge.getParameterCount()) {
				boolean locked = LockAnnotations.find(method, type) != null;
				if (locked != (LockAnnotations.find(bridge, type) != null)) {
					throw LockMethodSpecs.problem(method,
							"only %s of this method and %s, by which Kotlin calls it through the function that it overrides, has a lock. Annotate both functions"
								.formatted(locked ? "the first" : "the second", MethodText.of(bridge)));
				}
			}
		}
	}

	private LockMethodSpec verify(Method method, Class<?> type) {
		if (LockAnnotations.isUnlocked(method)) {
			throw LockMethodSpecs.problem(method, "it is also @Unlocked. Remove one of the annotations");
		}
		requireOne(method, LockAnnotations.rivals(method, type));
		requireNotOfObject(method);
		requireInterceptable(method, Modifier.isPrivate(method.getModifiers()), "private");
		requireInterceptable(method, Modifier.isStatic(method.getModifiers()), "static");
		requireInterceptable(method, isHidden(method, type),
				"package-private in another package than the class of the bean");
		requireInterceptable(method, Modifier.isFinal(method.getModifiers()), "final");
		requireInterceptable(method,
				Modifier.isFinal(type.getModifiers()) && ClassUtils.getAllInterfacesForClass(type).length == 0,
				"in a final class");
		return this.specs.get(method, type);
	}

	private static void requireOne(Method method, List<MergedAnnotation<DistributedLock>> rivals) {
		if (!rivals.isEmpty()) {
			throw LockMethodSpecs.problem(method,
					"it has several lock annotations, %s, of which only one would apply. Keep one of them, with a list in 'key' if the method needs several locks of one name, or request the others in the method with LockOperations"
						.formatted(rivals.stream()
							.map(LockMethodVerifier::describe)
							.collect(Collectors.joining(" and "))));
		}
	}

	/** A proxy compares itself with others, and leaves the end of the object to Java. */
	private static void requireNotOfObject(Method method) {
		if (AopUtils.isEqualsMethod(method) || AopUtils.isHashCodeMethod(method) || AopUtils.isFinalizeMethod(method)) {
			throw LockMethodSpecs.problem(method,
					"a call of %s() on a proxy does not reach its advice, so the method would run without its lock. Move the annotation to a method with another name"
						.formatted(method.getName()));
		}
	}

	private static String describe(MergedAnnotation<DistributedLock> annotation) {
		String element = (annotation.getSource() instanceof Method method)
				? method.getDeclaringClass().getSimpleName() + "." + method.getName() + "()"
				: String.valueOf(annotation.getSource());
		return "@%s on %s".formatted(annotation.getRoot().getType().getSimpleName(), element);
	}

	/** Whether a subclass in the package of the bean's class cannot override a method. */
	private static boolean isHidden(Method method, Class<?> type) {
		int visible = Modifier.PUBLIC | Modifier.PROTECTED | Modifier.PRIVATE;
		Class<?> declaring = method.getDeclaringClass();
		return (method.getModifiers() & visible) == 0 && (!declaring.getPackageName().equals(type.getPackageName())
				|| declaring.getClassLoader() != type.getClassLoader());
	}

	/**
	 * Returns whether a class cannot be subclassed. For a lambda or another proxy, Spring
	 * creates a proxy of its interfaces instead.
	 */
	static boolean cannotBeSubclassed(Class<?> type) {
		return Modifier.isFinal(type.getModifiers()) && !Proxy.isProxyClass(type) && !ClassUtils.isLambdaClass(type);
	}

	/** Creates the exception for a class that cannot be proxied. */
	static LockConfigurationException notProxied(Class<?> type, String beanName, @Nullable AopConfigException cause) {
		Method method = LockAnnotations.methods(type).iterator().next();
		String why = (cause == null || cannotBeSubclassed(type)) ? "in a final class"
				: "in a class that cannot be proxied (" + cause.getMessage() + ")";
		String remedy = (ClassUtils.getAllInterfacesForClass(type).length > 0)
				? " and Spring proxies classes (set 'spring.aop.proxy-target-class=false' to proxy interfaces)" : "";
		return ofBean(beanName, notInterceptable(method, why + remedy));
	}

	static LockConfigurationException ofBean(String beanName, LockConfigurationException problem) {
		return new LockConfigurationException("Bean '%s': %s".formatted(beanName, problem.getMessage()), problem);
	}

	private static void requireInterceptable(Method method, boolean not, String why) {
		if (not) {
			throw notInterceptable(method, why);
		}
	}

	private static LockConfigurationException notInterceptable(Method method, String why) {
		return LockMethodSpecs.problem(method,
				"the method is %s, so no proxy can intercept it and it would run without its lock. Make it an overridable method of a class that is not final, or mark it @Unlocked if the annotation of its class should not apply to it; if you cannot change it, annotate the methods that need the lock instead of the class"
					.formatted(why));
	}

}
