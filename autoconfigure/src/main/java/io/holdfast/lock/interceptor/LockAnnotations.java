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
 * Finds {@link DistributedLock} wherever it may stand: on the method, on what it
 * overrides or implements, on its class, or on another annotation on any of them.
 */
final class LockAnnotations {

	private LockAnnotations() {
	}

	/** Whether it is worth looking into a class at all. */
	static boolean mayBeOn(Class<?> type) {
		return AnnotationUtils.isCandidateClass(type, DistributedLock.class);
	}

	/** The methods of a class that hold a lock. */
	static Set<Method> methods(Class<?> type) {
		return !mayBeOn(type) ? Set.of()
				: MethodIntrospector
					.selectMethods(type,
							(MethodIntrospector.MetadataLookup<DistributedLock>) (method) -> find(method, type))
					.keySet();
	}

	/**
	 * The annotation that counts for a method: its own before that of its class. A
	 * class's annotation stands for its public methods, but not for static ones, for
	 * those that every object has, and for those that are {@link Unlocked}.
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
