package io.holdfast.lock.autoconfigure;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanPostProcessor;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.engine.LockEngine;

/**
 * The engine of an application context. Its bean may be a proxy for
 * {@link LockOperations} only, if an advisor of the application applies to it.
 *
 * <p>
 * The engine is created at the latest with all other singletons. Without that, the first
 * call after the application context was closed would create it again, and lazy
 * initialization would delay the startup check of the store.
 */
final class EngineReference implements BeanPostProcessor, SmartInitializingSingleton {

	private final ObjectProvider<LockOperations> operations;

	private final List<LockEngine> created = new CopyOnWriteArrayList<>();

	private volatile @Nullable LockEngine engine;

	EngineReference(ObjectProvider<LockOperations> operations) {
		this.operations = operations;
	}

	/** Keeps an engine before a proxy replaces it. */
	@Override
	public Object postProcessBeforeInitialization(Object bean, String beanName) {
		if (bean instanceof LockEngine own) {
			this.created.add(own);
		}
		return bean;
	}

	@Override
	public void afterSingletonsInstantiated() {
		find();
	}

	/**
	 * Returns the engine of this context or of its parent, or {@code null} if there is no
	 * unique one.
	 */
	@Nullable LockEngine find() {
		LockEngine present = this.engine;
		if (present == null) {
			present = engineOf(this.operations.getIfUnique());
			this.engine = present;
		}
		return present;
	}

	private @Nullable LockEngine engineOf(@Nullable LockOperations bean) {
		if (bean instanceof LockEngine own) {
			return own;
		}
		return (bean != null && this.created.size() == 1) ? this.created.get(0) : null;
	}

	/**
	 * Returns the engine.
	 * @throws LockConfigurationException if there is no unique one
	 */
	LockEngine get() {
		LockEngine present = find();
		if (present == null) {
			throw new LockConfigurationException(
					"There is no unique LockEngine bean, so locks cannot be inspected. Declare at most one, and exclude it from proxies if its context has a parent.");
		}
		return present;
	}

	/**
	 * Whether something else takes the place of the engine, such as the mock of a test.
	 */
	boolean isReplaced() {
		LockOperations bean = this.operations.getIfUnique();
		return bean != null && find() == null && this.created.isEmpty() && !AopUtils.isAopProxy(bean);
	}

	/** Returns the engines that this context has created, but not those of its parent. */
	List<LockEngine> created() {
		return this.created;
	}

}
