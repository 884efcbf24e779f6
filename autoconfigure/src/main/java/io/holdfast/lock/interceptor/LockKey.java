package io.holdfast.lock.interceptor;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.ExpressionState;
import org.springframework.expression.spel.SpelCompilerMode;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.SpelParserConfiguration;
import org.springframework.expression.spel.ast.Elvis;
import org.springframework.expression.spel.ast.InlineList;
import org.springframework.expression.spel.ast.OpPlus;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.Selection;
import org.springframework.expression.spel.ast.Ternary;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.util.ObjectUtils;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockException;
import io.holdfast.lock.support.BlankText;
import io.holdfast.lock.support.Failures;
import io.holdfast.lock.support.KeyText;
import io.holdfast.lock.support.KeyText.NotAKeyException;

/**
 * The key expression of one method. It is parsed once, compiled after some use, and
 * evaluated for each call with the names that {@code @Cacheable} supports. Thread-safe.
 */
final class LockKey implements KeySource {

	private static final ParameterNameDiscoverer NAMES = InterfaceParameterNames.orOwn();

	private final Method method;

	private final SpelParserConfiguration configuration;

	private final SpelExpression expression;

	private final @Nullable KeyBeans beans;

	private final List<String> beanNames;

	private final boolean callsApplication;

	private final KeyVariables variables;

	/**
	 * Parses an expression and verifies the names that it uses.
	 * @throws LockConfigurationException if it can never be evaluated
	 */
	LockKey(String expression, Method method, @Nullable KeyBeans beans) {
		if (expression.isBlank()) {
			throw LockMethodSpecs.problem(method,
					"its key, or a part of it, is blank. Write a SpEL expression, or omit 'key' for one lock for all calls");
		}
		this.method = method;
		this.beans = beans;
		ClassLoader loader = classLoader(beans);
		this.variables = new KeyVariables(method, NAMES.getParameterNames(method), beans, loader);
		this.configuration = new SpelParserConfiguration(SpelCompilerMode.MIXED, loader);
		try {
			this.expression = new SpelExpressionParser(this.configuration).parseRaw(expression);
		}
		catch (ParseException ex) {
			throw LockMethodSpecs.problem(method,
					"its key \"%s\" is not a valid SpEL expression: %s. Correct it; put text in quotes, as in \"'all'\""
						.formatted(expression, ex.getMessage()),
					ex);
		}
		this.beanNames = KeyBeans.names(this.expression.getAST()).toList();
		this.callsApplication = !this.beanNames.isEmpty() || KeyCalls.haveType(this.expression.getAST());
		String problem = new KeyExpressionVerifier(method, NAMES, this.variables.shared().getTypeLocator())
			.problem(this.expression.getAST());
		if (problem != null) {
			throw LockMethodSpecs.problem(method, "its key \"%s\" %s".formatted(expression, problem));
		}
	}

	private static ClassLoader classLoader(@Nullable KeyBeans beans) {
		ClassLoader loader = (beans != null) ? beans.classLoader() : null;
		return (loader != null) ? loader : LockKey.class.getClassLoader();
	}

	/**
	 * Returns the keys of one call: one, or one for each element of the collection or
	 * array that the expression returns.
	 * @throws LockConfigurationException if the expression cannot be evaluated or returns
	 * no key, or if a key identifies nothing. With such a key, unrelated calls would
	 * share one lock, or each call would have its own
	 */
	@Override
	public List<String> evaluate(@Nullable Object target, Class<?> targetClass, @Nullable Object[] arguments) {
		KeyContext context = context(target, targetClass, arguments);
		Object value = value(context);
		Collection<?> several = several(value);
		if (several == null) {
			return List.of(identifyingText(value, "", context));
		}
		if (value instanceof byte[] || value instanceof char[]) {
			throw problem(
					"is a %s, each element of which would be a separate lock. Use a text or number that identifies it"
						.formatted(value.getClass().getTypeName()),
					null);
		}
		if (several.isEmpty()) {
			throw problem("is empty, so there is nothing to lock. Pass at least one value", null);
		}
		requireOneType(several);
		return several.stream().map((one) -> identifyingText(one, "has an element that ", context)).toList();
	}

	@Override
	public void requireBeans() {
		KeyBeans known = this.beans;
		if (known != null) {
			this.beanNames.stream().filter((name) -> !known.contains(name)).findFirst().ifPresent((name) -> {
				throw LockMethodSpecs.problem(this.method,
						"its key \"%s\" refers to the bean '%s', which does not exist. Correct the name, or define the bean"
							.formatted(this.expression.getExpressionString(), name));
			});
		}
	}

	/**
	 * Returns the key of one call as a part of a compound key.
	 * @throws LockConfigurationException as {@link #evaluate}, and if there are several
	 * values
	 */
	String evaluatePart(@Nullable Object target, Class<?> targetClass, @Nullable Object[] arguments) {
		KeyContext context = context(target, targetClass, arguments);
		Object value = value(context);
		if (several(value) != null) {
			throw problem("has several values, but a part of a key has one. Use 'key' for several locks", null);
		}
		return identifyingText(value, "", context);
	}

	private KeyContext context(@Nullable Object target, Class<?> targetClass, @Nullable Object[] arguments) {
		return new KeyContext(this.variables, new Root(this.method, arguments, target, targetClass));
	}

	private @Nullable Object value(KeyContext context) {
		try {
			return this.expression.getValue(context);
		}
		catch (NotAKeyException ex) {
			throw problem("has a part that " + ex.getMessage(), ex.getCause());
		}
		catch (RuntimeException ex) {
			// called code may fail for reasons of its own, such as a missing permission,
			// which callers treat as if the method had failed
			RuntimeException own = KeyCalls.thrown(ex);
			if (own == null) {
				throw problem("could not be evaluated: " + ex.getMessage(), ex);
			}
			throw (own instanceof LockException || this.callsApplication) ? own
					: problem("could not be evaluated: " + Failures.rootMessage(own), own);
		}
	}

	/**
	 * Returns the elements of a collection or array; {@code null} for any other value.
	 */
	private static @Nullable Collection<?> several(@Nullable Object value) {
		if (value instanceof Collection<?> several) {
			return several;
		}
		return ObjectUtils.isArray(value) ? Arrays.asList(ObjectUtils.toObjectArray(value)) : null;
	}

	/**
	 * Rejects values of different types in an inline list, because they are parts of one
	 * key.
	 */
	private void requireOneType(Collection<?> values) {
		if (this.expression.getAST() instanceof InlineList
				&& values.stream().filter(Objects::nonNull).map(Object::getClass).distinct().count() > 1) {
			throw problem(
					"lists values of different types, each of which would be a separate lock. Write keys = {\"...\", \"...\"} for one lock whose key has several parts",
					null);
		}
	}

	/**
	 * Returns the text of a value.
	 * @param part the beginning of a message about a part of the key, or an empty text
	 */
	private String identifyingText(@Nullable Object value, String part, KeyContext context) {
		String text = text(value, part);
		if (BlankText.isBlank(text)) {
			throw problem(part + KeyText.shared("blank"), null);
		}
		if (text.contains("null")) {
			requireNoNull(this.expression.getAST(), context);
		}
		return text;
	}

	private String text(@Nullable Object value, String part) {
		try {
			return KeyText.of(value);
		}
		catch (NotAKeyException ex) {
			throw problem(part + ex.getMessage(), ex.getCause());
		}
	}

	/** Rejects a null that was concatenated with a longer text. */
	private void requireNoNull(SpelNode node, KeyContext context) {
		if (node instanceof Projection || node instanceof Selection) {
			return;
		}
		for (int i = 0; i < node.getChildCount(); i++) {
			SpelNode child = node.getChild(i);
			if (node instanceof OpPlus && value(child, context) == null) {
				throw problem("has a part, %s, that %s".formatted(child.toStringAST(), KeyText.shared("null")), null);
			}
			if (isEvaluated(node, i, context)) {
				requireNoNull(child, context);
			}
		}
	}

	/** Only one alternative of a conditional expression is evaluated. */
	private boolean isEvaluated(SpelNode node, int child, KeyContext context) {
		if (child == 0 || !(node instanceof Ternary || node instanceof Elvis)) {
			return true;
		}
		Object first = value(node.getChild(0), context);
		return (node instanceof Elvis) ? ObjectUtils.isEmpty(first)
				: child == (Boolean.parseBoolean(String.valueOf(first)) ? 1 : 2);
	}

	/** Returns the value of a part, or the part if it depends on the rest. */
	private @Nullable Object value(SpelNode part, KeyContext context) {
		try {
			return part.getValue(new ExpressionState(context, context.getRootObject(), this.configuration));
		}
		catch (RuntimeException ex) {
			return part;
		}
	}

	private LockConfigurationException problem(String what, @Nullable Throwable cause) {
		return LockMethodSpecs.problem(this.method,
				"its key \"%s\" %s. The method did not run".formatted(this.expression.getExpressionString(), what),
				cause);
	}

	/**
	 * The {@code #root} object of an expression.
	 *
	 * @param method the method that is called
	 * @param args its arguments
	 * @param target the object on which it is called
	 * @param targetClass the class of that object
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
