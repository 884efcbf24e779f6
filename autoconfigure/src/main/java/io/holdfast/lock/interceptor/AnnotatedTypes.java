package io.holdfast.lock.interceptor;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.stream.Stream;

import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.util.ConcurrentReferenceHashMap;
import org.springframework.util.ConcurrentReferenceHashMap.ReferenceType;
import org.springframework.util.ReflectionUtils;

import io.holdfast.lock.DistributedLock;

/**
 * Remembers on which types the annotation may be at all. Every bean is looked at several
 * times, few have the annotation, and the search for the one that applies to a method
 * takes long. Thread-safe. Keeps no class from being unloaded.
 */
final class AnnotatedTypes {

	private static final Map<Class<?>, Boolean> KNOWN = new ConcurrentReferenceHashMap<>(64, ReferenceType.WEAK);

	private AnnotatedTypes() {
	}

	/**
	 * Returns whether a class, one of its supertypes, or any method of these has the
	 * annotation, or another annotation that has it.
	 */
	static boolean include(Class<?> type) {
		if (!AnnotationUtils.isCandidateClass(type, DistributedLock.class)) {
			return false;
		}
		Boolean known = KNOWN.get(type);
		if (known == null) {
			known = isAnnotated(type) || isAnySupertypeIncluded(type);
			KNOWN.put(type, known);
		}
		return known;
	}

	private static boolean isAnySupertypeIncluded(Class<?> type) {
		Class<?> superclass = type.getSuperclass();
		return (superclass != null && include(superclass))
				|| Stream.of(type.getInterfaces()).anyMatch(AnnotatedTypes::include);
	}

	private static boolean isAnnotated(Class<?> type) {
		if (isOn(type)) {
			return true;
		}
		for (Method method : ReflectionUtils.getDeclaredMethods(type)) {
			if (isOn(method)) {
				return true;
			}
		}
		return false;
	}

	private static boolean isOn(AnnotatedElement element) {
		return MergedAnnotations.from(element).isPresent(DistributedLock.class);
	}

}
