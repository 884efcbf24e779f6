package io.holdfast.lock.interceptor;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.core.BridgeMethodResolver;
import org.springframework.core.KotlinDetector;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.Unlocked;

/**
 * Finds {@link DistributedLock} on a method, on the methods that it overrides or
 * implements, on its class, or on another annotation of any of them.
 */
final class LockAnnotations {

	private LockAnnotations() {
	}

	/** Returns whether the annotation may apply to any method of a class. */
	static boolean mayBeOn(Class<?> type) {
		return AnnotatedTypes.include(type);
	}

	/** Returns the methods of a class that hold a lock. */
	static Set<Method> methods(Class<?> type) {
		return !mayBeOn(type) ? Set.of()
				: MethodIntrospector
					.selectMethods(type,
							(MethodIntrospector.MetadataLookup<DistributedLock>) (method) -> find(method, type))
					.keySet();
	}

	/**
	 * Returns the annotation that applies to a method: its own before that of its class.
	 * The annotation of a class applies to its public methods. It does not apply to
	 * static methods, to the methods of {@code Object}, to those that are
	 * {@link Unlocked}, and to those of other interfaces of its proxy.
	 */
	static @Nullable DistributedLock find(Method method, Class<?> targetClass) {
		Method specific = specific(method, targetClass);
		List<Method> declarations = declarations(specific, method, targetClass);
		DistributedLock own = onMethods(declarations);
		if (own != null || ReflectionUtils.isObjectMethod(specific) || !Modifier.isPublic(specific.getModifiers())
				|| Modifier.isStatic(specific.getModifiers())
				|| !specific.getDeclaringClass().isAssignableFrom(targetClass)
				|| declarations.stream().anyMatch(LockAnnotations::isUnlocked)) {
			return own;
		}
		return nearest(ofClass(specific, targetClass));
	}

	/**
	 * Returns the method of a class that runs if a method is called. An interface of
	 * Kotlin has no bridge to a function that overrides a generic one, and neither has a
	 * proxy of it.
	 */
	static Method specific(Method method, Class<?> targetClass) {
		Method specific = AopUtils.getMostSpecificMethod(method, targetClass);
		if (targetClass.isInterface()) {
			return overriding(specific, targetClass).orElse(specific);
		}
		return !Proxy.isProxyClass(targetClass) ? specific
				: Stream.of(targetClass.getInterfaces())
					.flatMap((type) -> overridingSame(specific, type).stream())
					.findFirst()
					.map((override) -> AopUtils.getMostSpecificMethod(override, targetClass))
					.orElse(specific);
	}

	private static Optional<Method> overridingSame(Method method, Class<?> type) {
		Method same = ClassUtils.getMethodIfAvailable(type, method.getName(), method.getParameterTypes());
		return (same != null) ? overriding(same, type) : Optional.empty();
	}

	private static Optional<Method> overriding(Method method, Class<?> type) {
		return Stream.of(type.getMethods()).filter((other) -> overridesIn(type, other, method)).findFirst();
	}

	/** Not for Java: there, a method with an unboxed parameter is an overload. */
	private static boolean overridesIn(Class<?> type, Method method, Method other) {
		if (method.isBridge() || !method.getName().equals(other.getName())
				|| method.getParameterCount() != other.getParameterCount() || !overrides(method, other)
				|| !KotlinDetector.isKotlinType(method.getDeclaringClass())) {
			return false;
		}
		Class<?>[] parameters = method.getParameterTypes();
		return IntStream.range(0, parameters.length)
			.allMatch((i) -> ClassUtils.resolvePrimitiveIfNecessary(parameters[i]) == ClassUtils
				.resolvePrimitiveIfNecessary(ResolvableType.forMethodParameter(other, i, type).toClass()));
	}

	/**
	 * Returns the annotations of one element, or of unrelated types, of which only one
	 * would apply to a method. Otherwise, the annotation of a subtype overrides those of
	 * its supertypes.
	 * @return the two, or nothing
	 */
	static List<MergedAnnotation<DistributedLock>> rivals(Method method, Class<?> targetClass) {
		Method specific = specific(method, targetClass);
		List<MergedAnnotation<DistributedLock>> all = declarations(specific, specific, targetClass).stream()
			.flatMap((declared) -> all(declared).stream())
			.toList();
		all = all.isEmpty() ? ofClass(specific, targetClass) : all;
		for (MergedAnnotation<DistributedLock> other : all) {
			MergedAnnotation<DistributedLock> first = all.get(0);
			if (!overrides(first.getSource(), other.getSource()) && !first.synthesize().equals(other.synthesize())) {
				return List.of(first, other);
			}
		}
		return List.of();
	}

	private static boolean overrides(@Nullable Object element, @Nullable Object other) {
		Class<?> type = typeOf(element);
		Class<?> otherType = typeOf(other);
		return type != otherType && type != null && otherType != null && otherType.isAssignableFrom(type);
	}

	private static @Nullable Class<?> typeOf(@Nullable Object element) {
		return (element instanceof Method method) ? method.getDeclaringClass() : (Class<?>) element;
	}

	/** Returns the annotations of an element, and after them those of its supertypes. */
	private static List<MergedAnnotation<DistributedLock>> all(AnnotatedElement element) {
		return MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY).stream(DistributedLock.class).toList();
	}

	/**
	 * Returns the annotations of a class. Those of an interface of a proxy do not apply
	 * to the methods of its other interfaces, some of which are Spring's.
	 */
	private static List<MergedAnnotation<DistributedLock>> ofClass(Method method, Class<?> targetClass) {
		return !Proxy.isProxyClass(targetClass) ? all(targetClass)
				: Stream.of(targetClass.getInterfaces())
					.filter((type) -> ClassUtils.hasMethod(type, method.getName(), method.getParameterTypes()))
					.flatMap((type) -> all(type).stream())
					.toList();
	}

	private static @Nullable DistributedLock nearest(List<MergedAnnotation<DistributedLock>> all) {
		return all.isEmpty() ? null : all.get(0).synthesize();
	}

	static boolean isUnlocked(Method method) {
		return AnnotatedElementUtils.hasAnnotation(method, Unlocked.class);
	}

	/**
	 * Returns a method, the one that was called, its bridges, and the methods of
	 * interfaces that it implements for its class. It may be inherited from a class that
	 * does not implement them. Only a bridge shows what a function of Kotlin overrides if
	 * its parameter is primitive.
	 */
	private static List<Method> declarations(Method specific, Method called, Class<?> targetClass) {
		Set<Method> found = new LinkedHashSet<>(List.of(specific, called));
		for (Method declared : ReflectionUtils.getDeclaredMethods(specific.getDeclaringClass())) {
			if (declared.isBridge() && declared.getName().equals(specific.getName())
					&& BridgeMethodResolver.findBridgedMethod(declared).equals(specific)) {
				found.add(declared);
			}
		}
		for (Class<?> type : ClassUtils.getAllInterfacesForClassAsSet(targetClass)) {
			for (Method declared : type.getMethods()) {
				if (declared.getName().equals(specific.getName()) && specific(declared, targetClass).equals(specific)) {
					found.add(declared);
				}
			}
		}
		return List.copyOf(found);
	}

	private static @Nullable DistributedLock onMethods(List<Method> methods) {
		return methods.stream().map((method) -> nearest(all(method))).filter(Objects::nonNull).findFirst().orElse(null);
	}

}
