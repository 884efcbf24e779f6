package io.holdfast.lock.interceptor;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
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

	/** Returns whether a class may have the annotation at all. */
	static boolean mayBeOn(Class<?> type) {
		return AnnotationUtils.isCandidateClass(type, DistributedLock.class);
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
	 * static methods, to the methods of {@code Object} and to those that are
	 * {@link Unlocked}.
	 */
	static @Nullable DistributedLock find(Method method, Class<?> targetClass) {
		Method specific = AopUtils.getMostSpecificMethod(method, targetClass);
		DistributedLock own = onMethod(specific, method);
		if (own != null || ReflectionUtils.isObjectMethod(specific) || !Modifier.isPublic(specific.getModifiers())
				|| Modifier.isStatic(specific.getModifiers()) || isUnlocked(specific) || isUnlocked(method)) {
			return own;
		}
		return AnnotatedElementUtils.findMergedAnnotation(targetClass, DistributedLock.class);
	}

	static boolean isUnlocked(Method method) {
		return AnnotatedElementUtils.hasAnnotation(method, Unlocked.class);
	}

	private static @Nullable DistributedLock onMethod(Method specific, Method called) {
		DistributedLock annotation = AnnotatedElementUtils.findMergedAnnotation(specific, DistributedLock.class);
		if (annotation == null && specific != called) {
			annotation = AnnotatedElementUtils.findMergedAnnotation(called, DistributedLock.class);
		}
		return annotation;
	}

}
