package io.holdfast.lock.interceptor;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Gives the keys of one call.
 */
interface KeySource {

	/**
	 * The keys of one call.
	 * @param target the object that is called
	 * @param targetClass its class
	 * @param arguments the arguments
	 * @return the keys, at least one; each is a lock
	 * @throws io.holdfast.lock.LockConfigurationException if there is none that
	 * identifies something
	 */
	List<String> evaluate(@Nullable Object target, Class<?> targetClass, @Nullable Object[] arguments);

	/**
	 * Checks, at the end of the start, that there are the beans that it names.
	 * @throws io.holdfast.lock.LockConfigurationException if one is not there
	 */
	void requireBeans();

}
