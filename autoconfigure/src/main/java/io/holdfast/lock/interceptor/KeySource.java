package io.holdfast.lock.interceptor;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Provides the keys of a call.
 */
interface KeySource {

	/**
	 * Returns the keys of one call.
	 * @param target the object that is called
	 * @param targetClass the class of the object
	 * @param arguments the arguments
	 * @return the keys, at least one; each key is a lock
	 * @throws io.holdfast.lock.LockConfigurationException if there is no key that
	 * identifies something
	 */
	List<String> evaluate(@Nullable Object target, Class<?> targetClass, @Nullable Object[] arguments);

	/**
	 * Verifies, at the end of startup, that the referenced beans exist.
	 * @throws io.holdfast.lock.LockConfigurationException if a bean does not exist
	 */
	void requireBeans();

}
