package io.holdfast.lock.interceptor;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanExpressionException;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.context.annotation.Bean;
import org.springframework.core.MethodClassKey;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.scheduling.annotation.Async;
import org.springframework.util.Assert;
import org.springframework.util.StringUtils;
import org.springframework.util.StringValueResolver;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.WhenNotAcquired;
import io.holdfast.lock.support.DurationText;

/**
 * Resolves annotations to {@link LockMethodSpec}s, once for each method, and rejects
 * those that can never work. Thread-safe.
 */
final class LockMethodSpecs {

	private static final String CONTINUATION = "kotlin.coroutines.Continuation";

	/**
	 * A template of the container that contains a variable, which only a key can have.
	 */
	private static final Pattern TEMPLATE_WITH_VARIABLE = Pattern.compile("#\\{[^}]*#(?!(?:root|this)\\b)\\w");

	private final Map<MethodClassKey, LockMethodSpec> specs = new ConcurrentHashMap<>();

	private final StringValueResolver placeholders;

	private final @Nullable KeyBeans beans;

	/**
	 * Creates an empty cache of specs.
	 * @param placeholders resolves <code>${...}</code>
	 * @param beans resolves <code>&#64;bean</code> in key expressions
	 */
	LockMethodSpecs(StringValueResolver placeholders, @Nullable KeyBeans beans) {
		this.placeholders = placeholders;
		this.beans = beans;
	}

	/**
	 * Returns the spec of a method that has the annotation.
	 * @throws LockConfigurationException if the annotation can never work
	 */
	LockMethodSpec get(Method method, Class<?> targetClass) {
		MethodClassKey key = new MethodClassKey(method, targetClass);
		LockMethodSpec spec = this.specs.get(key);
		if (spec == null) {
			spec = create(method, targetClass);
			this.specs.put(key, spec);
		}
		return spec;
	}

	private LockMethodSpec create(Method called, Class<?> targetClass) {
		Method method = LockAnnotations.specific(called, targetClass);
		DistributedLock annotation = LockAnnotations.find(called, targetClass);
		Assert.state(annotation != null, () -> "No @DistributedLock on " + MethodText.of(method));
		boolean asynchronous = requireSupportedReturnType(method, targetClass);
		LockFallback fallback = annotation.fallback().isEmpty() ? null
				: LockFallback.find(annotation.fallback(), method, targetClass);
		requireOneReaction(method, annotation);
		if (annotation.fenced() && asynchronous) {
			requireAsync(method, targetClass);
		}
		return new LockMethodSpec(method, template(method, annotation), key(method, annotation),
				annotation.whenNotAcquired(), fallback, asynchronous, annotation.fenced());
	}

	private @Nullable KeySource key(Method method, DistributedLock annotation) {
		if (annotation.keys().length == 0) {
			return annotation.key().isEmpty() ? null : keyPart(method, annotation.key());
		}
		if (!annotation.key().isEmpty()) {
			throw problem(method,
					"it has both 'key' and 'keys'. Use 'keys' for the parts of one key, or a list in 'key' for several locks");
		}
		return new CompoundKey(Stream.of(annotation.keys()).map((part) -> keyPart(method, part)).toList());
	}

	private LockKey keyPart(Method method, String expression) {
		return new LockKey(resolve(method, "key", expression), method, this.beans);
	}

	/**
	 * Returns whether the lock is held until the stage that the method returns completes.
	 */
	private static boolean requireSupportedReturnType(Method method, Class<?> targetClass) {
		Class<?> type = ResolvableType.forMethodReturnType(method, targetClass).toClass();
		boolean stage = type == CompletableFuture.class || type == CompletionStage.class;
		if (!stage && (Future.class.isAssignableFrom(type) || CompletionStage.class.isAssignableFrom(type))) {
			throw problem(method,
					"it returns %s, whose completion cannot be awaited without blocking. Return a CompletableFuture"
						.formatted(type.getSimpleName()));
		}
		Class<?> lazy = LazyResults.in(method, targetClass);
		if (lazy != null) {
			throw problem(method, "it returns %s, whose work runs without the lock after the method has returned. %s"
				.formatted(lazy.getSimpleName(), AnnotatedElementUtils.hasAnnotation(method, Bean.class)
						? "Lock the method of a class that implements it, or use 'LockOperations.execute' in it"
						: "Return the value itself, or one CompletableFuture of it; in a reactive chain, use 'LockOperations.executeAsync'"));
		}
		Class<?>[] parameters = method.getParameterTypes();
		if (parameters.length > 0 && parameters[parameters.length - 1].getName().equals(CONTINUATION)) {
			throw problem(method,
					"it is a suspend function, whose work continues without the lock after it has been suspended. Lock a function that does not suspend, or hold the lock in it: coroutineScope { locks.executeAsync(request) { future { ... } }.await() }");
		}
		return stage;
	}

	/**
	 * The work of a future is not part of the method's transaction, unless the method
	 * completes the future itself. It has a reason to only if {@code @Async} runs it.
	 */
	private static void requireAsync(Method method, Class<?> targetClass) {
		if (!isAsync(method, targetClass)) {
			throw problem(method,
					"it has 'fenced = true' and returns a future, but nothing checks the token in transactions of other threads. Return the value itself, or call FencingGuard.advance in the transaction of that work");
		}
	}

	static boolean isAsync(Method method, Class<?> targetClass) {
		return AnnotatedElementUtils.hasAnnotation(method, Async.class)
				|| AnnotatedElementUtils.hasAnnotation(targetClass, Async.class);
	}

	private static void requireOneReaction(Method method, DistributedLock annotation) {
		if (annotation.whenNotAcquired() != WhenNotAcquired.SKIP) {
			return;
		}
		if (!annotation.fallback().isEmpty()) {
			throw problem(method, "it has both 'whenNotAcquired = SKIP' and a fallback. Choose one");
		}
		if (method.getReturnType().isPrimitive() && method.getReturnType() != void.class) {
			throw problem(method,
					"it has 'whenNotAcquired = SKIP' and returns %s, which has no value for a skipped call. Return an Optional or an object, or use THROW or a fallback"
						.formatted(method.getReturnType()));
		}
	}

	private LockRequest template(Method method, DistributedLock annotation) {
		String name = name(method, annotation);
		Duration waitTime = waitTime(method, annotation);
		Duration leaseTime = duration(method, "leaseTime", annotation.leaseTime());
		Duration maxHold = duration(method, "maxHold", annotation.maxHold());
		Duration minHold = duration(method, "minHold", annotation.minHold());
		String backend = StringUtils.hasText(annotation.backend()) ? resolve(method, "backend", annotation.backend())
				: null;
		try {
			return LockRequest.forLock(LockName.of(name))
				.mode(annotation.mode())
				.waitTime(waitTime)
				.leaseTime(leaseTime)
				.renew(annotation.renew())
				.maxHold(maxHold)
				.minHold((minHold != null) ? minHold : Duration.ZERO)
				.fair(annotation.fair())
				.backend(backend)
				.build();
		}
		catch (LockConfigurationException ex) {
			// a request does not know the method that it is for
			throw problem(method, String.valueOf(ex.getMessage()));
		}
	}

	/** Returns zero for {@code SKIP} unless the annotation requests a wait. */
	private @Nullable Duration waitTime(Method method, DistributedLock annotation) {
		Duration waitTime = duration(method, "waitTime", annotation.waitTime());
		return (waitTime == null && annotation.whenNotAcquired() == WhenNotAcquired.SKIP) ? Duration.ZERO : waitTime;
	}

	private String name(Method method, DistributedLock annotation) {
		String name = resolve(method, "name", annotation.name());
		if (!StringUtils.hasText(name)) {
			throw problem(method, "it has no name. Set one, as in @DistributedLock(name = \"stock\")");
		}
		return name;
	}

	private @Nullable Duration duration(Method method, String attribute, String text) {
		String value = resolve(method, attribute, text);
		if (!StringUtils.hasText(value)) {
			return null;
		}
		if (DurationText.lacksUnit(value.strip())) {
			throw problem(method, "its %s is '%s', which has no unit. Write '%ss' or '%sms'".formatted(attribute, value,
					value.strip(), value.strip()));
		}
		try {
			return DurationStyle.detectAndParse(value);
		}
		catch (IllegalArgumentException | ArithmeticException ex) {
			throw problem(method, "its %s is '%s', which is not a duration. Write it as '5s', '500ms' or 'PT5S'"
				.formatted(attribute, value));
		}
	}

	/**
	 * Resolves placeholders. If nothing else resolves them, the context leaves unknown
	 * placeholders in the text.
	 */
	private String resolve(Method method, String attribute, String text) {
		if (TEMPLATE_WITH_VARIABLE.matcher(text).find()) {
			throw atStartup(method, attribute, text, null);
		}
		String resolved;
		try {
			resolved = this.placeholders.resolveStringValue(text);
		}
		catch (BeanExpressionException ex) {
			throw atStartup(method, attribute, text, ex);
		}
		catch (IllegalArgumentException ex) {
			throw unresolved(method, attribute, text, ex);
		}
		if (resolved != null && resolved.contains("${")) {
			throw unresolved(method, attribute, text, null);
		}
		return (resolved != null) ? resolved : "";
	}

	private static LockConfigurationException atStartup(Method method, String attribute, String text,
			@Nullable BeanExpressionException cause) {
		return problem(method,
				"its %s is \"%s\", whose #{...} is evaluated once, at startup, where the arguments of a call are unknown%s. Refer to an argument in 'key', without the braces, as in \"'order-' + #id\""
					.formatted(attribute, text, (cause != null)
							? ": " + NestedExceptionUtils.getMostSpecificCause(cause).getMessage() : ""),
				cause);
	}

	private static LockConfigurationException unresolved(Method method, String attribute, String text,
			@Nullable IllegalArgumentException cause) {
		return problem(method,
				"its %s is \"%s\", whose placeholder cannot be resolved%s. Set that property, or write a default, as in ${name:default}"
					.formatted(attribute, text, (cause != null) ? ": " + cause.getMessage() : ""),
				cause);
	}

	static LockConfigurationException problem(Method method, String what) {
		return problem(method, what, null);
	}

	static LockConfigurationException problem(Method method, String what, @Nullable Throwable cause) {
		String end = what.endsWith(".") ? "" : ".";
		return new LockConfigurationException(
				"@DistributedLock on %s: %s%s".formatted(MethodText.of(method), what, end), cause);
	}

}
