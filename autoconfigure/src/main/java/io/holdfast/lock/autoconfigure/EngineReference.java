package io.holdfast.lock.autoconfigure;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.engine.LockEngine;

/**
 * The engine itself. Its bean may be a proxy for {@link LockOperations} only, if an
 * advisor of the application applies to it.
 */
final class EngineReference {

	private volatile @Nullable LockEngine engine;

	LockEngine register(LockEngine created) {
		this.engine = created;
		return created;
	}

	/** Returns the engine of a bean. */
	LockEngine of(LockOperations bean) {
		LockEngine created = this.engine;
		if (bean instanceof LockEngine own) {
			return own;
		}
		if (created == null) {
			throw new LockConfigurationException(
					"The LockEngine bean is a %s, so its locks cannot be inspected. Declare no LockEngine of your own, or exclude it from proxies."
						.formatted(bean.getClass().getName()));
		}
		return created;
	}

}
