package io.holdfast.lock.interceptor;

import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockContext;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockNotAcquiredException;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.LockedAction;
import io.holdfast.lock.engine.LockEngine;
import io.holdfast.lock.transaction.MethodTransactions;

/**
 * Holds the lock around one call: acquires it, runs the rest of the chain, which includes
 * the transaction, and releases it. Without the lock, nothing of the chain runs.
 */
final class DistributedLockInterceptor implements MethodInterceptor {

	/** The results of skipped methods, by their return types. */
	private static final Map<Class<?>, Object> NOTHING = Map.of(Optional.class, Optional.empty(), OptionalInt.class,
			OptionalInt.empty(), OptionalLong.class, OptionalLong.empty(), OptionalDouble.class,
			OptionalDouble.empty());

	private final Supplier<LockOperations> locks;

	private final LockMethodSpecs specs;

	private final @Nullable MethodTransactions transactions;

	private final @Nullable Class<?> type;

	/**
	 * Creates the interceptor.
	 * @param locks the lock operations, looked up at the first call
	 * @param specs the specs of annotated methods
	 * @param transactions the transactions of methods; {@code null} if there are none
	 * @param type the type whose annotations apply, instead of the target's class;
	 * {@code null}: the target's class
	 */
	DistributedLockInterceptor(Supplier<LockOperations> locks, LockMethodSpecs specs,
			@Nullable MethodTransactions transactions, @Nullable Class<?> type) {
		this.locks = locks;
		this.specs = specs;
		this.transactions = transactions;
		this.type = type;
	}

	/** Returns the same interceptor for a type whose annotations apply. */
	DistributedLockInterceptor of(Class<?> annotated) {
		return new DistributedLockInterceptor(this.locks, this.specs, this.transactions, annotated);
	}

	@Override
	@SuppressWarnings("NullAway") // before JDK 22 it cannot see that T is nullable here
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		Object target = invocation.getThis();
		Class<?> targetClass = LockedType.of(invocation, this.type);
		LockMethodSpec spec = this.specs.get(invocation.getMethod(), targetClass);
		LockRequest request = spec.request(target, targetClass, invocation.getArguments());
		AtomicReference<@Nullable LockNotAcquiredException> refused = new AtomicReference<>();
		Object result = (this.transactions != null)
				? this.transactions.run(spec.method(), targetClass, () -> locked(invocation, spec, request, refused))
				: locked(invocation, spec, request, refused);
		LockNotAcquiredException reason = refused.getPlain();
		return (reason != null) ? without(invocation, spec, reason) : result;
	}

	@SuppressWarnings("NullAway") // before JDK 22 it cannot see that T is nullable here
	private @Nullable Object locked(MethodInvocation invocation, LockMethodSpec spec, LockRequest request,
			AtomicReference<@Nullable LockNotAcquiredException> refused) throws Throwable {
		LockOperations operations = this.locks.get();
		AtomicBoolean asked = new AtomicBoolean();
		LockedAction<@Nullable Object, Throwable> body = (handle) -> {
			asked.setPlain(true);
			return proceed(invocation, spec, request, handle);
		};
		Object result = spec.hasFallback() ? operations.executeOrElse(request, body, (reason) -> {
			asked.setPlain(true);
			refused.setPlain(reason);
			return null;
		}) : operations.execute(request, body);
		if (!asked.getPlain()) {
			throw notRun(operations, spec);
		}
		return result;
	}

	/**
	 * Creates the exception for operations that ran neither the method nor its fallback,
	 * such as a mock.
	 */
	private static LockConfigurationException notRun(LockOperations operations, LockMethodSpec spec) {
		return LockMethodSpecs.problem(spec.method(),
				"the LockOperations bean (%s) ran neither the method nor its fallback, as a mock does. Let the mock run the action that it receives, or remove the mock and set 'distributed-lock.backend=local' in tests"
					.formatted(AopUtils.getTargetClass(operations).getName()));
	}

	private @Nullable Object proceed(MethodInvocation invocation, LockMethodSpec spec, LockRequest request,
			LockHandle handle) throws Throwable {
		if (spec.asynchronous()) {
			return proceedUntilCompletion(invocation, spec, request);
		}
		spec.inject(handle, invocation.getArguments());
		Object result = invocation.proceed();
		if (result != null && !spec.resultIsKnown()) {
			requireComplete(spec, result);
		}
		return result;
	}

	private static void requireComplete(LockMethodSpec spec, Object result) {
		if (LazyResults.isLazy(result)) {
			LazyResults.end(result);
			throw LockMethodSpecs.problem(spec.method(),
					"it returned an object of %s, whose work runs without the lock after the method has returned. Return the value itself, or declare CompletableFuture as the return type"
						.formatted(result.getClass().getName()));
		}
	}

	/**
	 * Keeps the lock until the work has completed, with a second hold that is bound to no
	 * thread. The first hold ends when the method returns, or with the caller's
	 * transaction.
	 */
	private @Nullable Object proceedUntilCompletion(MethodInvocation invocation, LockMethodSpec spec,
			LockRequest request) throws Throwable {
		LockHandle untilCompletion = this.locks.get().acquire(request);
		LockContext.unbind(untilCompletion);
		CompletionStage<?> stage = null;
		try {
			spec.inject(untilCompletion, invocation.getArguments());
			stage = (CompletionStage<?>) invocation.proceed();
		}
		finally {
			if (stage == null) {
				untilCompletion.close();
			}
		}
		if (stage == null) {
			return null;
		}
		CompletableFuture<?> result = LockEngine.closeAfter(stage, untilCompletion);
		if (spec.fenced()) {
			requireFenced(spec, stage);
		}
		return result;
	}

	/**
	 * Rejects work that continues after the transaction in which its token was checked.
	 * The lock remains held until that work has completed.
	 */
	private static void requireFenced(LockMethodSpec spec, CompletionStage<?> stage) {
		if (!stage.toCompletableFuture().isDone()) {
			throw LockMethodSpecs.problem(spec.method(),
					"it has 'fenced = true', but its work continues after its transaction, where nothing checks the token. Complete the future before the method returns, or call FencingGuard.advance in the transaction of that work");
		}
	}

	private static @Nullable Object without(MethodInvocation invocation, LockMethodSpec spec,
			LockNotAcquiredException reason) throws Throwable {
		LockFallback fallback = spec.fallback();
		if (fallback != null) {
			return fallback.call(invocation, reason);
		}
		if (spec.asynchronous()) {
			return CompletableFuture.completedFuture(null);
		}
		return NOTHING.get(spec.method().getReturnType());
	}

}
