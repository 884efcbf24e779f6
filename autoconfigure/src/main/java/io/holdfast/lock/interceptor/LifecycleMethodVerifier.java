package io.holdfast.lock.interceptor;

import java.lang.reflect.Method;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.beans.factory.support.MergedBeanDefinitionPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
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

	/** The methods that the container calls if no other method is named. */
	private static final List<String> INFERRED = List.of("close", "shutdown");

	@Override
	public void postProcessMergedBeanDefinition(RootBeanDefinition definition, Class<?> type, String beanName) {
		if (!LockAnnotations.mayBeOn(type)) {
			return;
		}
		Set<String> named = named(definition, type);
		for (Method method : LockAnnotations.methods(ClassUtils.getUserClass(type))) {
			// the annotation of a class is meant for the calls of others
			if (AnnotatedElementUtils.hasAnnotation(method, DistributedLock.class) && isCalled(method, type, named)) {
				throw LockMethodVerifier.ofBean(beanName, refused(method));
			}
		}
	}

	private static boolean isCalled(Method method, Class<?> type, Set<String> named) {
		return ANNOTATIONS.stream().anyMatch((name) -> MergedAnnotations.from(method).isPresent(name))
				|| (method.getParameterCount() == 0 && named.contains(method.getName()));
	}

	private static Set<String> named(RootBeanDefinition definition, Class<?> type) {
		Set<String> names = new HashSet<>();
		addAll(names, definition.getInitMethodNames());
		addAll(names, definition.getDestroyMethodNames());
		if (names.remove(AbstractBeanDefinition.INFER_METHOD)) {
			names.addAll(INFERRED);
		}
		if (InitializingBean.class.isAssignableFrom(type)) {
			names.add("afterPropertiesSet");
		}
		if (DisposableBean.class.isAssignableFrom(type)) {
			names.add("destroy");
		}
		if (AutoCloseable.class.isAssignableFrom(type)) {
			names.add("close");
		}
		return names;
	}

	private static void addAll(Set<String> names, String @Nullable [] more) {
		if (more != null) {
			names.addAll(List.of(more));
		}
	}

	private static LockConfigurationException refused(Method method) {
		return LockMethodSpecs.problem(method,
				"the container calls it on the bean itself and not on its proxy, so it would run without its lock. Do this work in an ApplicationRunner or in a listener for ApplicationReadyEvent or ContextClosedEvent");
	}

}
