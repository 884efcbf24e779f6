package io.holdfast.lock.interceptor;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

import io.holdfast.lock.LockConfigurationException;

/**
 * Finds beans whose annotated methods run without their locks.
 */
public final class UnlockedBeans {

	private final ConfigurableListableBeanFactory beanFactory;

	/**
	 * Create the finder.
	 * @param beanFactory holds the beans
	 */
	public UnlockedBeans(ConfigurableListableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	/**
	 * Returns the beans that have an annotated method, by their definitions. Creates none
	 * of them.
	 * @return the names
	 */
	public List<String> annotated() {
		List<String> names = new ArrayList<>();
		for (String name : this.beanFactory.getBeanDefinitionNames()) {
			Class<?> type = this.beanFactory.getType(name, false);
			if (type != null && !LockAnnotations.methods(ClassUtils.getUserClass(type)).isEmpty()) {
				names.add(name);
			}
		}
		return names;
	}

	/**
	 * Checks that no bean was created before its lock could be put around it. Beans that
	 * are not created yet are left as they are.
	 * @param processed the names of the beans that were seen by the post-processor
	 * @throws LockConfigurationException if a bean runs unlocked
	 */
	void requireNone(Set<String> processed) {
		for (String name : this.beanFactory.getSingletonNames()) {
			Object bean = processed.contains(name) ? null : this.beanFactory.getSingleton(name);
			Method unlocked = (bean != null) ? unlockedMethod(bean) : null;
			if (unlocked != null) {
				throw LockMethodSpecs.problem(unlocked,
						"the bean '%s' was created before locks could be put around beans, so the method would run without its lock. It is, or is needed by, a post-processor or another bean of the infrastructure: inject it there lazily (ObjectProvider, @Lazy, a static @Bean method), or move the method to another bean"
							.formatted(name));
			}
		}
	}

	/**
	 * Checks a child context that puts no locks around its beans. Creates none of them.
	 * @throws LockConfigurationException if a bean runs unlocked, or would
	 */
	void requireNoneInChild() {
		Set<String> names = new LinkedHashSet<>(List.of(this.beanFactory.getBeanDefinitionNames()));
		names.addAll(List.of(this.beanFactory.getSingletonNames()));
		for (String name : names) {
			Method unlocked = unlockedMethod(name);
			if (unlocked != null) {
				throw LockMethodSpecs.problem(unlocked,
						"the bean '%s' is in a child context without lock support, so the method would run without its lock. Add @EnableAutoConfiguration to the child context, or @ImportAutoConfiguration with LockInterceptorAutoConfiguration, LockTransactionAutoConfiguration and FencingAutoConfiguration, or define the bean in the parent context"
							.formatted(name));
			}
		}
	}

	/** What is not created yet, or by a factory bean, is judged by its type. */
	private @Nullable Method unlockedMethod(String name) {
		Object bean = this.beanFactory.getSingleton(name);
		if (bean != null && !(bean instanceof FactoryBean)) {
			return unlockedMethod(bean);
		}
		Class<?> type = this.beanFactory.getType(name, false);
		return (type != null) ? LockAnnotations.methods(ClassUtils.getUserClass(type)).stream().findFirst().orElse(null)
				: null;
	}

	private @Nullable Method unlockedMethod(Object bean) {
		Set<Method> methods = LockAnnotations.methods(ClassUtils.getUserClass(AopUtils.getTargetClass(bean)));
		return (methods.isEmpty() || isLocked(bean) || isMock(bean)) ? null : methods.iterator().next();
	}

	/** A target that changes is a bean of its own. */
	private static boolean isLocked(@Nullable Object bean) {
		if (!(bean instanceof Advised proxy)) {
			return false;
		}
		for (Advisor advisor : proxy.getAdvisors()) {
			if (advisor.getAdvice() instanceof DistributedLockInterceptor) {
				return true;
			}
		}
		return !proxy.getTargetSource().isStatic() || isLocked(AopProxyUtils.getSingletonTarget(proxy));
	}

	/** A mock has the annotations of what it stands for, and runs nothing of it. */
	private boolean isMock(Object bean) {
		ClassLoader loader = this.beanFactory.getBeanClassLoader();
		if (!ClassUtils.isPresent("org.mockito.MockingDetails", loader)) {
			return false;
		}
		Class<?> mockito = ClassUtils.resolveClassName("org.mockito.Mockito", loader);
		Class<?> details = ClassUtils.resolveClassName("org.mockito.MockingDetails", loader);
		Object answer = ReflectionUtils.invokeMethod(ClassUtils.getMethod(mockito, "mockingDetails", Object.class),
				null, bean);
		return Boolean.TRUE.equals(ReflectionUtils.invokeMethod(ClassUtils.getMethod(details, "isMock"), answer));
	}

}
