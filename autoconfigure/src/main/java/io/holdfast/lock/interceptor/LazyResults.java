package io.holdfast.lock.interceptor;

import java.lang.reflect.Method;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Spliterator;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.function.BooleanSupplier;
import java.util.function.DoubleSupplier;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.BaseStream;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;

/**
 * Detects results whose work continues after their method has returned, when the lock is
 * already released.
 */
final class LazyResults {

	private static final List<Class<?>> WORK = present(BaseStream.class, Iterator.class, Spliterator.class,
			Flow.Publisher.class, "org.reactivestreams.Publisher",
			"org.springframework.web.context.request.async.DeferredResult",
			"org.springframework.web.context.request.async.WebAsyncTask",
			"org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody",
			"org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter", "kotlinx.coroutines.flow.Flow",
			"kotlinx.coroutines.Job", "kotlinx.coroutines.channels.ReceiveChannel", "kotlin.sequences.Sequence",
			"kotlin.Lazy", "kotlin.coroutines.jvm.internal.SuspendFunction");

	/**
	 * Types that are lazy only as plain functions; an instance of a class may be more
	 * than that.
	 */
	private static final List<Class<?>> FUNCTIONS = present(Callable.class, Runnable.class, Supplier.class,
			BooleanSupplier.class, IntSupplier.class, LongSupplier.class, DoubleSupplier.class,
			"kotlin.jvm.functions.Function0");

	/**
	 * Functions by their type that are nevertheless complete, such as the pages of Spring
	 * Data.
	 */
	private static final List<Class<?>> COMPLETE = present("org.springframework.data.util.Streamable");

	/** The type of all functions of Kotlin. */
	private static final List<Class<?>> KOTLIN_FUNCTION = present("kotlin.Function");

	private static final List<Class<?>> CONTINUATION = present("kotlin.coroutines.Continuation");

	private static final List<Class<?>> WRAPPERS = present(Optional.class, CompletionStage.class,
			"org.springframework.http.HttpEntity");

	/** A type may contain itself, as a tree does. */
	private static final int DEEPEST = 5;

	private static final ClassValue<Boolean> LAZY = new ClassValue<>() {

		@Override
		protected Boolean computeValue(Class<?> type) {
			return isWork(type) || isFunction(type);
		}

	};

	private LazyResults() {
	}

	private static List<Class<?>> present(Object... types) {
		ClassLoader loader = LazyResults.class.getClassLoader();
		return Stream.of(types)
			.filter((type) -> !(type instanceof String name) || ClassUtils.isPresent(name, loader))
			.<Class<?>>map((type) -> (type instanceof String name) ? ClassUtils.resolveClassName(name, loader)
					: (Class<?>) type)
			.toList();
	}

	/**
	 * Returns the lazy type in the declared result of a method.
	 * @return the type, or {@code null} if the declaration contains none
	 */
	static @Nullable Class<?> in(Method method, Class<?> targetClass) {
		ResolvableType declared = ResolvableType.forMethodReturnType(method, targetClass);
		Class<?> type = declared.toClass();
		return (LAZY.get(type) || isWork(declared)) ? type : inContent(declared, DEEPEST);
	}

	/**
	 * Only a future that is the result itself is awaited. Functions in a container may be
	 * its purpose.
	 */
	private static @Nullable Class<?> inContent(ResolvableType declared, int depth) {
		ResolvableType content = content(declared);
		if (content == ResolvableType.NONE || depth == 0) {
			return null;
		}
		Class<?> type = content.toClass();
		boolean wrapped = isOneOf(WRAPPERS, declared.toClass());
		return (isWork(content) || isFuture(type) || (wrapped && isFunction(type))) ? type
				: inContent(content, depth - 1);
	}

	private static ResolvableType content(ResolvableType declared) {
		Class<?> type = declared.toClass();
		for (Class<?> wrapper : WRAPPERS) {
			if (wrapper.isAssignableFrom(type)) {
				return declared.as(wrapper).getGeneric(0);
			}
		}
		if (Iterable.class.isAssignableFrom(type)) {
			return declared.as(Iterable.class).getGeneric(0);
		}
		return Map.class.isAssignableFrom(type) ? declared.as(Map.class).getGeneric(1) : declared.getComponentType();
	}

	private static boolean isFuture(Class<?> type) {
		return Future.class.isAssignableFrom(type) || CompletionStage.class.isAssignableFrom(type);
	}

	private static boolean isWork(ResolvableType declared) {
		return isWork(declared.toClass()) || isSuspendFunction(declared);
	}

	private static boolean isWork(Class<?> type) {
		boolean reactive = ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null;
		return isOneOf(WORK, type) || (reactive && !CompletionStage.class.isAssignableFrom(type));
	}

	private static boolean isFunction(Class<?> type) {
		boolean noMore = type.isInterface() || type.isHidden() || type.isSynthetic() || type.isAnonymousClass();
		return noMore && isOneOf(FUNCTIONS, type) && !isOneOf(COMPLETE, type);
	}

	/** In bytecode, a suspend function is a function of a continuation. */
	private static boolean isSuspendFunction(ResolvableType declared) {
		return isOneOf(KOTLIN_FUNCTION, declared.toClass())
				&& Stream.of(declared.getGenerics()).anyMatch((generic) -> isOneOf(CONTINUATION, generic.toClass()));
	}

	private static boolean isOneOf(List<Class<?>> types, Class<?> type) {
		return types.stream().anyMatch((one) -> one.isAssignableFrom(type));
	}

	/** Returns whether a result is lazy although its declaration did not show that. */
	static boolean isLazy(Object result) {
		Object value = (result instanceof Optional<?> optional && optional.isPresent()) ? optional.get() : result;
		return isFuture(value.getClass()) || LAZY.get(value.getClass());
	}

	/**
	 * Stops the work of a result as far as possible. A failure to stop it is not an
	 * additional error.
	 */
	static void end(Object result) {
		try {
			if (result instanceof Future<?> future) {
				future.cancel(true);
			}
			else if (result instanceof AutoCloseable closeable) {
				closeable.close();
			}
		}
		catch (Exception ex) {
			// the caller receives an error about the result itself
		}
	}

}
