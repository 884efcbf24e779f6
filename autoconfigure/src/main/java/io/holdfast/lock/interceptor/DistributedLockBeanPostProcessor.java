package io.holdfast.lock.interceptor;

import java.lang.reflect.Method;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopConfigException;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.EmbeddedValueResolver;
import org.springframework.beans.factory.config.SmartInstantiationAwareBeanPostProcessor;
import org.springframework.core.Ordered;
import org.springframework.util.Assert;
import org.springframework.util.ClassUtils;
import org.springframework.util.function.SingletonSupplier;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.transaction.MethodTransactions;

/**
 * Adds the lock to beans with annotated methods: outside the transaction, regardless of
 * its order, and inside the advice that guards the call. The post-processors of
 * {@code @Async} and {@code @Retryable} run later, so their advice is outside the lock.
 *
 * <p>
 * Requires only spring-aop. Dependencies are looked up at the first call, so that no bean
 * is created too early. At the end of startup they are looked up if that has not happened
 * yet, so that a call after the context was closed creates no bean.
 */
public final class DistributedLockBeanPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor
		implements SmartInitializingSingleton, SmartInstantiationAwareBeanPostProcessor {

	/**
	 * Before the post-processor of the fence, so that this one explains why a class has
	 * no proxy. Also before those of {@code @Retryable} ({@code LOWEST_PRECEDENCE - 1})
	 * and {@code @Async}.
	 */
	static final int ORDER = Ordered.LOWEST_PRECEDENCE - 3;

	private static final boolean TRANSACTIONS_PRESENT = ClassUtils.isPresent(
			"org.springframework.transaction.interceptor.TransactionInterceptor",
			DistributedLockBeanPostProcessor.class.getClassLoader());

	private final transient BackendCapabilityVerifier support;

	private transient @Nullable LockMethodVerifier verifier;

	private transient @Nullable DistributedLockInterceptor interceptor;

	private transient @Nullable ObjectProvider<LockOperations> operations;

	private transient @Nullable Supplier<LockOperations> locks;

	private transient @Nullable UnlockedBeans unlocked;

	/** Classes of beans that may have locks, before other post-processors. */
	private final transient CreatedClasses created = new CreatedClasses();

	/** Names of the beans that were processed here, until the end of startup. */
	private transient volatile @Nullable Set<String> processed = ConcurrentHashMap.newKeySet();

	/**
	 * Creates the post-processor; to be declared as a {@code static} bean method.
	 * @param support verifies that the backends support the annotations
	 */
	public DistributedLockBeanPostProcessor(BackendCapabilityVerifier support) {
		this.support = support;
		setOrder(ORDER);
	}

	@Override
	public void setBeanFactory(BeanFactory beanFactory) {
		super.setBeanFactory(beanFactory);
		Assert.isInstanceOf(ConfigurableListableBeanFactory.class, beanFactory);
		ConfigurableListableBeanFactory beans = (ConfigurableListableBeanFactory) beanFactory;
		this.unlocked = new UnlockedBeans(beans);
		LockMethodSpecs specs = new LockMethodSpecs(new EmbeddedValueResolver(beans), new KeyBeans(beans));
		this.verifier = new LockMethodVerifier(specs);
		ObjectProvider<LockOperations> operations = beanFactory.getBeanProvider(LockOperations.class);
		this.operations = operations;
		this.locks = SingletonSupplier.of(operations::getObject);
		this.interceptor = new DistributedLockInterceptor(this.locks, specs,
				TRANSACTIONS_PRESENT ? new MethodTransactions(beanFactory) : null, null);
		this.advisor = new DefaultPointcutAdvisor(new LockPointcut(null), this.interceptor);
	}

	/**
	 * Rejects a circular reference to a locked bean. The bean into which it is injected
	 * here would call it without its lock. Spring detects that later, but continues the
	 * start and only writes it to the log.
	 */
	@Override
	public Object getEarlyBeanReference(Object bean, String beanName) {
		Set<Method> locked = LockAnnotations.methods(ClassUtils.getUserClass(LockedType.of(bean)));
		if (!locked.isEmpty()) {
			throw LockMethodVerifier.ofBean(beanName, LockMethodSpecs.problem(locked.iterator().next(),
					"the bean is part of a circular reference, so a bean that is injected with it would get it before its lock is added, and the method would run without its lock. Mark one of the injection points @Lazy, also one at which the bean is injected into itself, or remove the circular reference"));
		}
		return bean;
	}

	@Override
	public boolean postProcessAfterInstantiation(Object bean, String beanName) {
		Class<?> type = bean.getClass();
		if (!(bean instanceof FactoryBean) && LockAnnotations.mayBeOn(type)) {
			this.created.put(beanName, type);
		}
		else {
			// of a bean that failed
			this.created.remove(beanName);
		}
		return true;
	}

	/**
	 * Fails before another post-processor fails to create a proxy with a less specific
	 * message.
	 */
	@Override
	public Object postProcessBeforeInitialization(Object bean, String beanName) {
		Class<?> type = bean.getClass();
		if (isProxyTargetClass() && LockMethodVerifier.cannotBeSubclassed(type)
				&& !LockAnnotations.methods(type).isEmpty()) {
			throw LockMethodVerifier.notProxied(type, beanName, null);
		}
		return bean;
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		Set<String> seen = this.processed;
		if (seen != null) {
			seen.add(beanName);
		}
		Class<?> before = this.created.remove(beanName);
		Class<?> type = LockedType.of(bean);
		if (this.verifier != null && LockAnnotations.mayBeOn(type)) {
			verify(this.verifier, type, beanName);
		}
		Object locked = withLock(bean, type, beanName);
		if (this.unlocked != null) {
			verifyLocked(this.unlocked, (before != null) ? before : this.unlocked.replacedType(beanName, bean), bean,
					locked, beanName);
		}
		return locked;
	}

	private static void verifyLocked(UnlockedBeans unlocked, @Nullable Class<?> before, Object bean, Object locked,
			String beanName) {
		if (before != null && before != bean.getClass()) {
			unlocked.requireLocked(beanName, before, locked);
		}
		unlocked.requireOpen(beanName, locked);
		unlocked.requireLockedTarget(beanName, locked);
	}

	private Object withLock(Object bean, Class<?> type, String beanName) {
		if (AdviceChain.isFactory(bean)) {
			return bean;
		}
		DistributedLockInterceptor lock = this.interceptor;
		if (bean instanceof Advised proxy && AdviceChain.isOpen(proxy) && this.advisor != null && lock != null
				&& isEligible(type)) {
			boolean own = LockedType.isTarget(type, proxy);
			proxy.addAdvisor(AdviceChain.positionOfLock(proxy),
					own ? this.advisor : new DefaultPointcutAdvisor(new LockPointcut(type), lock.of(type)));
			return bean;
		}
		try {
			return super.postProcessAfterInitialization(bean, beanName);
		}
		catch (AopConfigException ex) {
			throw LockMethodVerifier.notProxied(type, beanName, ex);
		}
	}

	private void verify(LockMethodVerifier methods, Class<?> type, String beanName) {
		try {
			methods.verify(type).forEach((spec) -> this.support.add(spec, type));
		}
		catch (LockConfigurationException ex) {
			throw LockMethodVerifier.ofBean(beanName, ex);
		}
	}

	@Override
	public void afterSingletonsInstantiated() {
		Set<String> seen = this.processed;
		if (this.unlocked != null && seen != null) {
			this.unlocked.requireNone(seen);
			this.unlocked.requireNoneInParents();
		}
		this.processed = null;
		if (this.operations != null && this.locks != null && this.operations.getIfUnique() != null) {
			this.locks.get();
		}
	}

}
