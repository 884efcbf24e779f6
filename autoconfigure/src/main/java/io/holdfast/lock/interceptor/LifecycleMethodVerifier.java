package io.holdfast.lock.interceptor;

import java.lang.reflect.Method;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.beans.factory.support.MergedBeanDefinitionPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.util.ClassUtils;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockConfigurationException;

/**
 * Rejects locked methods that the container itself calls at the start or the end of a
 * bean's life. It calls them on the bean, not on its proxy, so they would run without
 * their lock. Checks before the first of them runs.
 */
public final class LifecycleMethodVerifier implements MergedBeanDefinitionPostProcessor {

	private static final List<String> ANNOTATIONS = List.of("jakarta.annotation.PostConstruct",
			"jakarta.annotation.PreDestroy");

	@Override
	public void postProcessMergedBeanDefinition(RootBeanDefinition definition, Class<?> type, String beanName) {
		if (!LockAnnotations.mayBeOn(type)) {
			return;
		}
		Set<String> named = named(definition, type);
		for (Method method : LockAnnotations.methods(ClassUtils.getUserClass(type))) {
			// the annotation of a class is meant for the calls of others
			if (AnnotatedElementUtils.hasAnnotation(method, DistributedLock.class) && isCalled(method, named)) {
				throw LockMethodVerifier.ofBean(beanName, refused(method));
			}
		}
	}

	private static boolean isCalled(Method method, Set<String> named) {
		return ANNOTATIONS.stream().anyMatch((name) -> MergedAnnotations.from(method).isPresent(name))
				|| (method.getParameterCount() <= 1 && named.contains(method.getName()));
	}

	private static Set<String> named(RootBeanDefinition definition, Class<?> type) {
		Set<String> names = new HashSet<>();
		if (definition.getInitMethodNames() != null) {
			names.addAll(List.of(definition.getInitMethodNames()));
		}
		if (InitializingBean.class.isAssignableFrom(type)) {
			names.add("afterPropertiesSet");
		}
		if (!definition.isPrototype()) {
			names.addAll(destroyMethods(definition, type));
		}
		if (isStoppedByItsDefaultMethod(type)) {
			names.add("stop");
		}
		return names;
	}

	/**
	 * Returns whether the container calls {@code stop()} through the default method
	 * {@code stop(Runnable)}, which calls it on the bean.
	 */
	private static boolean isStoppedByItsDefaultMethod(Class<?> type) {
		return SmartLifecycle.class.isAssignableFrom(type)
				&& ClassUtils.getMethod(type, "stop", Runnable.class).getDeclaringClass() == SmartLifecycle.class;
	}

	/** Infers the methods as Spring's {@code DisposableBeanAdapter} does. */
	private static List<String> destroyMethods(RootBeanDefinition definition, Class<?> type) {
		String[] named = definition.getDestroyMethodNames();
		boolean closeable = AutoCloseable.class.isAssignableFrom(type);
		boolean inferred = (named != null) ? List.of(named).contains(AbstractBeanDefinition.INFER_METHOD) : closeable;
		if (DisposableBean.class.isAssignableFrom(type)) {
			return (named == null || inferred) ? List.of("destroy")
					: Stream.concat(Stream.of("destroy"), Stream.of(named)).toList();
		}
		if (!inferred) {
			return (named != null) ? List.of(named) : List.of();
		}
		return List.of((closeable || ClassUtils.hasMethod(type, "close")) ? "close" : "shutdown");
	}

	private static LockConfigurationException refused(Method method) {
		return LockMethodSpecs.problem(method,
				"the container calls it on the bean itself and not on its proxy, so it would run without its lock. Do this work in an ApplicationRunner or in a listener for ApplicationReadyEvent or ContextClosedEvent, or name no such method in the bean definition (destroyMethod = \"\")");
	}

}
