package io.holdfast.lock.interceptor;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.core.MethodClassKey;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.fencing.Fence;

/**
 * Checks the fence right before the body, inside the transaction. A holder that the fence
 * rejects does not reach the body.
 */
final class FenceInterceptor implements MethodInterceptor {

	private final Supplier<@Nullable Fence> fence;

	private final Map<MethodClassKey, Optional<String>> required = new ConcurrentHashMap<>();

	private final @Nullable Class<?> type;

	/**
	 * Creates the interceptor.
	 * @param fence the fence, looked up at the first call
	 * @param type the type whose annotations apply, instead of the target's class;
	 * {@code null}: the target's class
	 */
	FenceInterceptor(Supplier<@Nullable Fence> fence, @Nullable Class<?> type) {
		this.fence = fence;
		this.type = type;
	}

	boolean passes(Supplier<@Nullable Fence> other) {
		return this.fence == other;
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		Fence present = this.fence.get();
		if (present != null) {
			present.beforeBody(requiredBy(invocation.getMethod(), LockedType.of(invocation, this.type)));
		}
		return invocation.proceed();
	}

	private @Nullable String requiredBy(Method method, Class<?> type) {
		return this.required.computeIfAbsent(new MethodClassKey(method, type), (key) -> {
			DistributedLock annotation = LockAnnotations.find(method, type);
			return (annotation != null && annotation.fenced())
					? Optional.of("@DistributedLock on " + MethodText.of(AopUtils.getMostSpecificMethod(method, type)))
					: Optional.empty();
		}).orElse(null);
	}

}
