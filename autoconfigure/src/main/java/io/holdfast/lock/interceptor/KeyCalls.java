package io.holdfast.lock.interceptor;

import java.lang.reflect.InvocationTargetException;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;

import org.springframework.expression.EvaluationException;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.ConstructorReference;
import org.springframework.expression.spel.ast.TypeReference;

import io.holdfast.lock.support.Failures;

/**
 * The code that a key expression calls.
 */
final class KeyCalls {

	private KeyCalls() {
	}

	/**
	 * Whether an expression calls a type that is not one of Java: a static method or a
	 * constructor. A name without a package is one of java.lang.
	 */
	static boolean haveType(SpelNode node) {
		if ((node instanceof TypeReference || node instanceof ConstructorReference)
				&& isOfApplication(node.getChild(0).toStringAST())) {
			return true;
		}
		return IntStream.range(0, node.getChildCount()).mapToObj(node::getChild).anyMatch(KeyCalls::haveType);
	}

	private static boolean isOfApplication(String type) {
		return type.contains(".") && !type.startsWith("java.");
	}

	/**
	 * Returns the exception of the code that an expression has called. SpEL passes on
	 * that of a method, but not that of a getter or a constructor.
	 * @return the exception, or {@code null} if the expression itself has failed
	 */
	static @Nullable RuntimeException thrown(RuntimeException failure) {
		if (!(failure instanceof EvaluationException)) {
			return failure;
		}
		return Failures.causes(failure)
			.filter(InvocationTargetException.class::isInstance)
			.map(Throwable::getCause)
			.filter(RuntimeException.class::isInstance)
			.map(RuntimeException.class::cast)
			.findFirst()
			.orElse(null);
	}

}
