package io.holdfast.lock.interceptor;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.WhenNotAcquired;

/**
 * The settings of one annotated method, resolved once.
 *
 * @param method the method of the target class
 * @param template the request without its key
 * @param key provides the keys of a call, or {@code null} for one lock for all calls
 * @param whenNotAcquired the reaction if the lock is not acquired
 * @param fallback the method to call instead, or {@code null}
 * @param asynchronous whether the method's work continues after it has returned, until
 * the returned stage completes
 * @param fenced whether the transaction must be fenced
 */
record LockMethodSpec(Method method, LockRequest template, @Nullable KeySource key, WhenNotAcquired whenNotAcquired,
		@Nullable LockFallback fallback, boolean asynchronous, boolean fenced) {

	/**
	 * Returns whether the declared result type is final, so that the result needs no
	 * check.
	 */
	boolean resultIsKnown() {
		return Modifier.isFinal(this.method.getReturnType().getModifiers());
	}

	LockRequest request(@Nullable Object target, Class<?> targetClass, @Nullable Object[] arguments) {
		if (this.key == null) {
			return this.template;
		}
		List<String> keys = this.key.evaluate(target, targetClass, arguments);
		LockRequest request;
		try {
			request = request(this.template.lock().name(), keys);
		}
		catch (LockConfigurationException ex) {
			throw LockMethodSpecs.problem(this.method, ex.getMessage() + " The method did not run", ex);
		}
		if (request.locks().size() > 1 && List.of(this.method.getParameterTypes()).contains(FencingToken.class)) {
			throw LockMethodSpecs.problem(this.method,
					"it has a parameter of type FencingToken, but this call has %s locks, each with its own token. Declare a LockHandle instead, and use the tokens of its parts(). The method did not run"
						.formatted(request.locks().size()));
		}
		return request;
	}

	private LockRequest request(String name, List<String> keys) {
		if (keys.size() == 1) {
			return this.template.withLocks(List.of(new LockName(name, keys.get(0))));
		}
		return this.template.withLocks(keys.stream().map((key) -> new LockName(name, key)).toList());
	}

	/** Returns whether the caller continues if the lock was not acquired. */
	boolean hasFallback() {
		return this.fallback != null || this.whenNotAcquired == WhenNotAcquired.SKIP;
	}

	/** Sets the parameters that the method declares for the hold or its fencing token. */
	void inject(LockHandle handle, @Nullable Object[] arguments) {
		Class<?>[] types = this.method.getParameterTypes();
		for (int i = 0; i < types.length; i++) {
			if (types[i] == LockHandle.class) {
				arguments[i] = handle;
			}
			else if (types[i] == FencingToken.class) {
				arguments[i] = handle.fencingToken();
			}
		}
	}

}
