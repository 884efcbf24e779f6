package io.holdfast.lock.fencing;

import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;

/**
 * The fence of this application's transactions, as the lock interceptor uses it.
 */
public interface Fence {

	/**
	 * Ensures, right before the body of a method, that its transaction has passed the
	 * fence with all locks that this thread holds.
	 * @param requiredBy the annotated method that requires a fenced transaction, as
	 * messages name it; {@code null} if none is required
	 * @throws io.holdfast.lock.StaleFencingTokenException if this holder is stale
	 * @throws io.holdfast.lock.LockConfigurationException if a fenced transaction is
	 * required and there is no transaction that can be fenced
	 */
	void beforeBody(@Nullable String requiredBy);

	/**
	 * Returns why transactions are not fenced.
	 * @return the reason, or {@code null} if transactions are fenced
	 */
	@Nullable String unfencedReason();

	/**
	 * Returns why the transaction of a method is not fenced, as far as that is known
	 * before the call.
	 * @param method the method
	 * @param type the class of its bean
	 * @return the reason, or {@code null} if it is fenced or if only the call shows that
	 */
	default @Nullable String unfencedReason(Method method, Class<?> type) {
		return unfencedReason();
	}

}
