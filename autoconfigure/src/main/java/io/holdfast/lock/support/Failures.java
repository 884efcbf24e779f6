package io.holdfast.lock.support;

import java.lang.reflect.Modifier;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertificateException;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.util.ReflectionUtils;

/**
 * Operations on failures that several packages need.
 */
public final class Failures {

	private static final int DEEPEST = 50;

	/** The messages of PostgreSQL contain some, before details and hints. */
	private static final Pattern LINE_BREAK = Pattern.compile("\\s*\\R\\s*");

	private Failures() {
	}

	/**
	 * Sets the interrupt flag of the present thread again if code of the application has
	 * thrown an {@link InterruptedException}, which is logged and goes no further. Kotlin
	 * throws it undeclared, so it is caught with all others.
	 * @param failure what was thrown
	 */
	public static void keepInterrupt(Throwable failure) {
		if (failure instanceof InterruptedException) {
			Thread.currentThread().interrupt();
		}
	}

	/**
	 * Returns a description of the root cause, to which a sentence may append a period.
	 * @param failure the failure
	 * @return the simple name of the root cause's class, or of its first public
	 * superclass, and its message in one line, without a final period and without the
	 * details that a client of Redis appends, such as
	 * {@code ConnectException: Connection refused}
	 */
	public static String rootMessage(Throwable failure) {
		Throwable root = root(failure);
		@Nullable String message = root.getMessage();
		String type = publicType(root.getClass()).getSimpleName();
		if (message == null || message.isBlank()) {
			return type;
		}
		return type + ": " + RedisErrorText.withoutDetails(LINE_BREAK.matcher(message.strip()).replaceAll(" "));
	}

	/**
	 * Returns a message to which a sentence may append a period.
	 * @param message the message
	 * @return the message without its final period
	 */
	public static String withoutPeriod(String message) {
		return message.endsWith(".") ? message.substring(0, message.length() - 1) : message;
	}

	/** An internal class says nothing to the reader of a message. */
	private static Class<?> publicType(Class<?> type) {
		return Modifier.isPublic(type.getModifiers()) ? type : publicType(type.getSuperclass());
	}

	/**
	 * Returns a failure and its causes.
	 * @param failure the failure
	 * @return the failure itself first; at most {@value #DEEPEST}, since causes may form
	 * a circle
	 */
	public static Stream<Throwable> causes(Throwable failure) {
		return Stream.iterate(failure, Objects::nonNull, Throwable::getCause).limit(DEEPEST);
	}

	/**
	 * Whether this side of a connection has rejected the certificate of the other side.
	 * @param failure the failure
	 * @return whether one of the causes says so
	 */
	public static boolean isCertificateRejected(Throwable failure) {
		return causes(failure)
			.anyMatch((cause) -> cause instanceof CertificateException || cause instanceof CertPathBuilderException);
	}

	/**
	 * Returns the root cause of a failure.
	 * @param failure the failure
	 * @return its last cause, or the failure itself
	 */
	public static Throwable root(Throwable failure) {
		return causes(failure).reduce((outer, cause) -> cause).orElse(failure);
	}

	/**
	 * Runs tasks one after another, each of them even if an earlier one fails.
	 * @param tasks the tasks
	 * @throws RuntimeException or an {@link Error}: the first failure, to which the
	 * others are added as suppressed. Wraps a checked exception, which Kotlin throws
	 * undeclared
	 */
	public static void runAll(Iterable<? extends Runnable> tasks) {
		Throwable first = null;
		for (Runnable task : tasks) {
			try {
				task.run();
			}
			catch (Throwable ex) {
				first = (first != null) ? first : ex;
				if (first != ex) {
					first.addSuppressed(ex);
				}
			}
		}
		if (first != null) {
			ReflectionUtils.rethrowRuntimeException(first);
		}
	}

}
