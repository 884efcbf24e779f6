package io.holdfast.lock.interceptor;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.TargetSource;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.target.HotSwappableTargetSource;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockConfigurationException;

/**
 * Finds beans whose annotated methods run without their locks.
 */
public final class UnlockedBeans {

	/** Spring's class of a product that a factory bean returned as {@code null}. */
	private static final String NO_PRODUCT = "org.springframework.beans.factory.support.NullBean";

	private final ConfigurableListableBeanFactory beanFactory;

	/**
	 * Creates the finder.
	 * @param beanFactory the factory of the beans
	 */
	public UnlockedBeans(ConfigurableListableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	/**
	 * Returns the beans whose definitions show an annotated method. Creates none of them.
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
	 * Verifies that no bean was created before its lock could be added. Ignores beans
	 * that are not created yet.
	 * @param processed the names of the beans that the post-processor has processed
	 * @throws LockConfigurationException if a bean runs without its lock
	 */
	void requireNone(Set<String> processed) {
		for (String name : this.beanFactory.getSingletonNames()) {
			Object bean = processed.contains(name) ? null : this.beanFactory.getSingleton(name);
			if (bean instanceof FactoryBean<?> factory) {
				// the product that was created early, or one that is now created locked
				bean = (factory.isSingleton() && unlockedMethod(name) != null) ? this.beanFactory.getBean(name) : null;
			}
			Method unlocked = (bean != null) ? unlockedMethod(bean) : null;
			if (unlocked != null) {
				throw LockMethodSpecs.problem(unlocked,
						"the bean '%s' was created before locks could be added to beans, so the method would run without its lock. It is, or is needed by, a post-processor or another infrastructure bean, or it was registered as an object, such as by @TestBean. Inject it there lazily (ObjectProvider, @Lazy, a static @Bean method), move the method to another bean, or return the object from a @Bean method, in a test from that of a @TestConfiguration"
							.formatted(name));
			}
		}
	}

	/**
	 * Verifies a bean that another post-processor has replaced before its lock could be
	 * added.
	 * @param name the name of the bean
	 * @param type the class of the bean before that
	 * @param bean the bean
	 * @throws LockConfigurationException if a method of the class runs without its lock
	 */
	void requireLocked(String name, Class<?> type, Object bean) {
		Class<?> created = ClassUtils.getUserClass(type);
		Class<?> present = LockedType.of(bean);
		boolean wrapped = wrapsLocked(bean, created);
		for (Method method : LockAnnotations.methods(created)) {
			boolean locked = wrapped
					|| (isLocked(bean) && (present == created || hasSameLock(method, created, present)));
			if (!locked && !isMock(bean)) {
				throw LockMethodSpecs.problem(method,
						"a post-processor has replaced the bean '%s' with an object of %s, or a FactoryBean with another object type has created it, and this object does not have the annotation, so the method would run without its lock. Declare the annotation in an interface that this object implements, or let the post-processor replace the bean in postProcessAfterInitialization and have no order (neither Ordered nor PriorityOrdered). If the object only calls a bean with this lock, let getObjectType() of the FactoryBean return a type that the object has"
							.formatted(name, bean.getClass().getName()));
			}
		}
	}

	/**
	 * Returns whether a proxy of the application's own stands for a bean with its lock.
	 */
	private static boolean wrapsLocked(Object bean, Class<?> type) {
		return HandlerTargets.of(HandlerTargets.behindAdvice(bean))
			.stream()
			.anyMatch((target) -> isLocked(target) && type.isAssignableFrom(LockedType.of(target)));
	}

	/**
	 * Returns the class that a bean should have according to its definition or its
	 * factory. A post-processor may have replaced it before any other one saw it. An
	 * object that is only initialized under the name of a bean is not in creation.
	 * @param name the name of the bean
	 * @param bean the bean
	 * @return the class, or {@code null} if the bean is of that class
	 */
	@Nullable Class<?> replacedType(String name, Object bean) {
		boolean created = this.beanFactory.containsBeanDefinition(name) && this.beanFactory.isCurrentlyInCreation(name);
		boolean present = !(bean instanceof FactoryBean) && !bean.getClass().getName().equals(NO_PRODUCT);
		Class<?> type = (created && present) ? this.beanFactory.getType(name, false) : null;
		return (type != null && !type.isInstance(bean)) ? type : null;
	}

	/**
	 * Verifies a bean that is a proxy of the application's own. Its target is no bean, so
	 * it has no locks.
	 * @param name the name of the bean
	 * @param bean the bean
	 * @throws LockConfigurationException if the proxy runs a method of its target without
	 * its lock
	 */
	void requireLockedTarget(String name, Object bean) {
		for (Object target : HandlerTargets.of(HandlerTargets.behindAdvice(bean))) {
			Method unlocked = isLocked(target) ? null : unlockedMethod(bean, target);
			if (unlocked != null && !isMock(target) && !declares(target, name)) {
				throw LockMethodSpecs.problem(unlocked,
						"the bean '%s' is a proxy around an object that is no bean, so the method would run without its lock. Declare the annotation in the interface of the proxy, or make the object a bean and inject it into the proxy"
							.formatted(name));
			}
		}
	}

	/**
	 * Returns whether an object has the method that creates a bean. Then it is a bean
	 * itself, and a call of its own methods acquires no locks.
	 */
	private boolean declares(Object object, String name) {
		String declaring = this.beanFactory.containsBeanDefinition(name)
				? this.beanFactory.getBeanDefinition(name).getFactoryBeanName() : null;
		Object bean = (declaring != null) ? this.beanFactory.getSingleton(declaring) : null;
		return bean != null && HandlerTargets.behindAdvice(bean) == object;
	}

	private static @Nullable Method unlockedMethod(Object bean, Object target) {
		Object proxy = HandlerTargets.behindAdvice(bean);
		Class<?> type = ClassUtils.getUserClass(LockedType.of(target));
		return LockAnnotations.methods(type).stream().filter((method) -> {
			DistributedLock lock = LockAnnotations.find(method, type);
			return HandlerTargets.shared(proxy, target)
				.filter((callable) -> LockAnnotations.specific(callable, type).equals(method))
				.anyMatch((callable) -> !isLocked(bean)
						|| !Objects.equals(LockAnnotations.find(callable, proxy.getClass()), lock));
		}).findFirst().orElse(null);
	}

	/**
	 * Verifies that a bean is no frozen proxy, to which its lock could not be added.
	 * @param name the name of the bean
	 * @param bean the bean
	 * @throws LockConfigurationException if a method of its target runs without its lock
	 */
	void requireOpen(String name, Object bean) {
		Method unlocked = (bean instanceof Advised proxy && proxy.isFrozen()) ? unlockedMethod(bean) : null;
		if (unlocked != null) {
			throw LockMethodSpecs.problem(unlocked,
					"the bean '%s' is a frozen proxy, to which the lock cannot be added, so the method would run without it. Do not freeze the proxy"
						.formatted(name));
		}
	}

	/**
	 * Returns whether another type has the lock of a method, too. There, the method may
	 * have the parameters of a generic interface.
	 */
	private static boolean hasSameLock(Method method, Class<?> type, Class<?> other) {
		DistributedLock lock = LockAnnotations.find(method, type);
		return Stream.of(other.getMethods())
			.filter((callable) -> callable.getName().equals(method.getName())
					&& LockAnnotations.specific(callable, type).equals(method))
			.allMatch((callable) -> Objects.equals(LockAnnotations.find(callable, other), lock));
	}

	/** Returns whether a factory adds locks to its beans. */
	static boolean areLocked(ConfigurableListableBeanFactory beans) {
		return beans.getBeanNamesForType(DistributedLockBeanPostProcessor.class, false, false).length > 0;
	}

	/**
	 * Verifies the parent contexts that add no locks to their beans.
	 * @throws LockConfigurationException if a bean runs without its lock, or would do so
	 */
	void requireNoneInParents() {
		BeanFactory parent = this.beanFactory.getParentBeanFactory();
		while (parent instanceof ConfigurableListableBeanFactory beans) {
			if (!areLocked(beans)) {
				new UnlockedBeans(beans).requireNone("in a parent context without lock support",
						"Define the bean in the child context, or add @EnableAutoConfiguration to the parent context");
			}
			parent = beans.getParentBeanFactory();
		}
	}

	/**
	 * Verifies a child context that adds no locks to its beans. Creates none of them.
	 * @throws LockConfigurationException if a bean runs without its lock, or would do so
	 */
	void requireNoneInChild() {
		requireNone("in a child context without lock support",
				"Add @EnableAutoConfiguration to the child context, or @ImportAutoConfiguration with LockInterceptorAutoConfiguration, LockTransactionAutoConfiguration and FencingAutoConfiguration, or define the bean in the parent context");
	}

	private void requireNone(String place, String remedy) {
		Set<String> names = new LinkedHashSet<>(List.of(this.beanFactory.getBeanDefinitionNames()));
		names.addAll(List.of(this.beanFactory.getSingletonNames()));
		for (String name : names) {
			Method unlocked = unlockedMethod(name);
			if (unlocked != null) {
				throw LockMethodSpecs.problem(unlocked,
						"the bean '%s' is %s, so the method would run without its lock. %s".formatted(name, place,
								remedy));
			}
		}
	}

	/**
	 * Uses the type of a bean that is not created yet, or that a factory bean creates.
	 */
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
		Set<Method> methods = LockAnnotations.methods(ClassUtils.getUserClass(LockedType.of(bean)));
		return (methods.isEmpty() || isLocked(bean) || isMock(bean)) ? null : methods.iterator().next();
	}

	private static boolean isLocked(@Nullable Object bean) {
		return bean instanceof Advised proxy && (AdviceChain.containsLock(proxy) || isTargetLocked(proxy));
	}

	/**
	 * Returns whether the target of a proxy has its lock. One that changes is a bean of
	 * its own, unless the application exchanges it.
	 */
	private static boolean isTargetLocked(Advised proxy) {
		TargetSource source = proxy.getTargetSource();
		return (source instanceof HotSwappableTargetSource exchanged) ? isLocked(exchanged.getTarget())
				: !source.isStatic() || isLocked(AopProxyUtils.getSingletonTarget(proxy));
	}

	/**
	 * Returns whether a bean is a mock, which has the annotations of the mocked type but
	 * runs none of its code.
	 */
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
