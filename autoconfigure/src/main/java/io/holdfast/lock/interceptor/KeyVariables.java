package io.holdfast.lock.interceptor;

import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.springframework.expression.EvaluationContext;
import org.springframework.expression.spel.support.StandardEvaluationContext;
import org.springframework.expression.spel.support.StandardTypeLocator;

/**
 * The part of the evaluation context of a key expression that all calls share: where its
 * variables are among the arguments, and how it reads properties, calls methods and finds
 * beans. Thread-safe.
 */
final class KeyVariables {

	/** Positions of the arguments, by the names of their variables. */
	private final Map<String, Integer> positions = new HashMap<>();

	private final StandardEvaluationContext shared = new StandardEvaluationContext();

	/**
	 * Determines the variables of a method: {@code a0}, {@code p0} and the name of each
	 * parameter.
	 * @param names the names of the parameters, or {@code null} if they are unknown
	 * @param loader finds the types that expressions name. The context class loader of a
	 * thread may not find them
	 */
	KeyVariables(Method method, @Nullable String @Nullable [] names, @Nullable KeyBeans beans, ClassLoader loader) {
		for (int i = 0; i < method.getParameterCount(); i++) {
			this.positions.put("a" + i, i);
			this.positions.put("p" + i, i);
			String name = (names != null && i < names.length) ? names[i] : null;
			if (name != null) {
				this.positions.put(name, i);
			}
		}
		this.shared.setBeanResolver(beans);
		this.shared.setTypeConverter(new KeyTypeConverter());
		this.shared.setTypeLocator(new StandardTypeLocator(loader));
	}

	/** Returns the value of a variable, or {@code null} if there is none. */
	@Nullable Object value(String name, @Nullable Object[] arguments) {
		Integer position = this.positions.get(name);
		return (position != null && position < arguments.length) ? arguments[position] : null;
	}

	/** Returns what is independent of the call. */
	EvaluationContext shared() {
		return this.shared;
	}

}
