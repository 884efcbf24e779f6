package io.holdfast.lock.fencing;

import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;

/**
 * The fence around the transactions of this application, as the interceptor of locks sees
 * it.
 */
public interface Fence {

	/**
	 * Make sure, right before a method's body, that its transaction has passed the fence
	 * with all locks that this thread holds.
	 * @param requiredBy who requires such a transaction, as messages name it;
	 * {@code null} if nobody does
	 * @throws io.holdfast.lock.StaleFencingTokenException if this holder was overtaken
	 * @throws io.holdfast.lock.LockConfigurationException if it is required and there is
	 * no transaction that could be fenced
	 */
	void beforeBody(@Nullable String requiredBy);

	/**
	 * Why nothing is fenced.
	 * @return the reason, or {@code null} if transactions are fenced
	 */
	@Nullable String whyOff();

	/**
	 * Why the transaction of a method is not fenced, as far as that is known before it is
	 * called.
	 * @param method the method
	 * @param type the class of its bean
	 * @return the reason, or {@code null} if it is fenced or shows only at the call
	 */
	default @Nullable String whyOff(Method method, Class<?> type) {
		return whyOff();
	}

}
