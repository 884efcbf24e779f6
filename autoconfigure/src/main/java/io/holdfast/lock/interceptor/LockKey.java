package io.holdfast.lock.interceptor;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.BeanResolver;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.SpelCompilerMode;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.SpelParserConfiguration;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.util.ObjectUtils;

import io.holdfast.lock.LockConfigurationException;

/**
 * The key expression of one method: parsed once, compiled after some use, evaluated for
 * each call with the names that {@code @Cacheable} knows. Thread-safe.
 */
final class LockKey {

	private static final SpelExpressionParser PARSER = new SpelExpressionParser(
			new SpelParserConfiguration(SpelCompilerMode.MIXED, LockKey.class.getClassLoader()));

	private static final ParameterNameDiscoverer NAMES = new DefaultParameterNameDiscoverer();

	private static final Pattern POSITIONAL = Pattern.compile("[pa](\\d+)");

	private static final Set<String> ALWAYS_THERE = Set.of("root", "this");

	private final Method method;

	private final SpelExpression expression;

	private final @Nullable BeanResolver beans;

	/**
	 * Parse an expression and check the names that it uses.
	 * @throws LockConfigurationException if it could never be evaluated
	 */
	LockKey(String expression, Method method, @Nullable BeanResolver beans) {
		this.method = method;
		this.beans = beans;
		try {
			this.expression = PARSER.parseRaw(expression);
		}
		catch (ParseException ex) {
			throw LockMethodSpecs.problem(method,
					"its key \"%s\" is not a SpEL expression: %s. Correct it; text is put in quotes, as in \"'all'\""
						.formatted(expression, ex.getMessage()),
					ex);
		}
		requireKnownVariables();
	}

	private void requireKnownVariables() {
		Set<String> used = new TreeSet<>();
		collectVariables(this.expression.getAST(), used);
		used.removeAll(ALWAYS_THERE);
		used.removeIf(this::isPosition);
		if (used.isEmpty()) {
			return;
		}
		@Nullable String @Nullable [] names = NAMES.getParameterNames(this.method);
		if (names == null) {
			throw LockMethodSpecs.problem(this.method,
					"its key \"%s\" uses the name of a parameter, and the names are not in the class file. Compile it with '-parameters', or write #p0 for the first parameter"
						.formatted(this.expression.getExpressionString()),
					null);
		}
		Arrays.asList(names).forEach(used::remove);
		if (!used.isEmpty()) {
			throw LockMethodSpecs.problem(this.method,
					"its key \"%s\" uses #%s, and the parameters are named %s. Use one of them".formatted(
							this.expression.getExpressionString(), String.join(", #", used), Arrays.toString(names)),
					null);
		}
	}

	private boolean isPosition(String variable) {
		var matcher = POSITIONAL.matcher(variable);
		return matcher.matches() && Integer.parseInt(matcher.group(1)) < this.method.getParameterCount();
	}

	private static void collectVariables(SpelNode node, Set<String> names) {
		if (node instanceof VariableReference variable) {
			names.add(variable.toStringAST().substring(1));
		}
		for (int i = 0; i < node.getChildCount(); i++) {
			collectVariables(node.getChild(i), names);
		}
	}

	/**
	 * The keys of one call: one, or as many as the collection or array has that the
	 * expression gives.
	 * @throws LockConfigurationException if it cannot be evaluated or gives none, or one
	 * is null or blank: then unrelated calls would share one lock
	 */
	List<String> evaluate(@Nullable Object target, Class<?> targetClass, @Nullable Object[] arguments) {
		MethodBasedEvaluationContext context = new MethodBasedEvaluationContext(
				new Root(this.method, arguments, target, targetClass), this.method, arguments, NAMES);
		context.setBeanResolver(this.beans);
		Object value;
		try {
			value = this.expression.getValue(context);
		}
		catch (EvaluationException ex) {
			throw problem("could not be evaluated: " + ex.getMessage(), ex);
		}
		if (value instanceof Collection<?> several) {
			return usable(several);
		}
		return (value != null && value.getClass().isArray()) ? usable(Arrays.asList(ObjectUtils.toObjectArray(value)))
				: List.of(usable(value));
	}

	private List<String> usable(Collection<?> values) {
		if (values.isEmpty()) {
			throw problem("is empty, so there is nothing to lock. Pass at least one value", null);
		}
		return values.stream().map(this::usable).toList();
	}

	private String usable(@Nullable Object value) {
		String key = (value != null) ? value.toString() : null;
		if (key == null || key.isBlank()) {
			throw problem("is " + ((key != null) ? "blank" : "null")
					+ ", so unrelated calls would share one lock. Pass a value, or leave the key out if one lock for all calls is meant",
					null);
		}
		return key;
	}

	private LockConfigurationException problem(String what, @Nullable Throwable cause) {
		return LockMethodSpecs.problem(this.method,
				"its key \"%s\" %s. The method did not run".formatted(this.expression.getExpressionString(), what),
				cause);
	}

	/**
	 * What {@code #root} is in an expression.
	 *
	 * @param method the method that is called
	 * @param args its arguments
	 * @param target the object it is called on
	 * @param targetClass that object's class
	 */
	public record Root(Method method, @Nullable Object[] args, @Nullable Object target, Class<?> targetClass) {

		public String getMethodName() {
			return this.method.getName();
		}

		public Method getMethod() {
			return this.method;
		}

		public @Nullable Object[] getArgs() {
			return this.args;
		}

		public @Nullable Object getTarget() {
			return this.target;
		}

		public Class<?> getTargetClass() {
			return this.targetClass;
		}

	}

}
