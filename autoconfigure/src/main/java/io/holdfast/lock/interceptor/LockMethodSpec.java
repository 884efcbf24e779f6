package io.holdfast.lock.interceptor;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.WhenNotAcquired;

/**
 * What the annotation of one method means, resolved once.
 *
 * @param method the method of the target class
 * @param template the request, but for the key
 * @param key gives the keys of a call, or {@code null} for one lock for all calls
 * @param whenNotAcquired what to do without the lock
 * @param fallback the method to call instead, or {@code null}
 * @param asynchronous whether the method's work goes on after it has returned, until the
 * stage that it returned completes
 * @param fenced whether its transaction must be fenced
 */
record LockMethodSpec(Method method, LockRequest template, @Nullable KeySource key, WhenNotAcquired whenNotAcquired,
		@Nullable LockFallback fallback, boolean asynchronous, boolean fenced) {

	/** Whether the declared type of the result leaves nothing to be found out. */
	boolean resultIsKnown() {
		return Modifier.isFinal(this.method.getReturnType().getModifiers());
	}

	LockRequest request(@Nullable Object target, Class<?> targetClass, @Nullable Object[] arguments) {
		if (this.key == null) {
			return this.template;
		}
		String name = this.template.lock().name();
		return this.template.withLocks(this.key.evaluate(target, targetClass, arguments)
			.stream()
			.map((key) -> LockName.of(name, key))
			.toList());
	}

	/** Whether the caller goes on when the lock was not acquired. */
	boolean hasFallback() {
		return this.fallback != null || this.whenNotAcquired == WhenNotAcquired.SKIP;
	}

	/** Put the hold where the method has declared a parameter for it. */
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
