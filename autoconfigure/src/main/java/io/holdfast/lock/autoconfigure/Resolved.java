package io.holdfast.lock.autoconfigure;

import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;

/**
 * A bean that is looked up once, at the latest when all singletons are created. Without
 * it, the first call after the application context was closed would create the bean
 * again.
 *
 * @param <T> the type of the bean
 */
final class Resolved<T> implements SmartInitializingSingleton, Supplier<@Nullable T> {

	private final ObjectProvider<T> provider;

	private volatile @Nullable T bean;

	Resolved(ObjectProvider<T> provider) {
		this.provider = provider;
	}

	/** Returns the bean, or {@code null} if there is no unique one. */
	@Override
	public @Nullable T get() {
		T present = this.bean;
		if (present == null) {
			present = this.provider.getIfUnique();
			this.bean = present;
		}
		return present;
	}

	@Override
	public void afterSingletonsInstantiated() {
		get();
	}

}
