package io.holdfast.lock.interceptor;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.BeanUtils;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.core.ResolvableType;
import org.springframework.expression.TypeLocator;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.InlineMap;
import org.springframework.expression.spel.ast.Literal;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.Selection;
import org.springframework.expression.spel.ast.StringLiteral;
import org.springframework.expression.spel.ast.VariableReference;

import io.holdfast.lock.support.BlankText;
import io.holdfast.lock.support.KeyText;
import io.holdfast.lock.support.KeyText.NotAKeyException;

/**
 * Verifies a key expression before the first call. The method must declare the names that
 * the expression uses, and the expression must be able to produce a key that identifies
 * something.
 */
final class KeyExpressionVerifier {

	/** A method has at most 255 parameters. */
	private static final Pattern POSITIONAL = Pattern.compile("[pa](0|[1-9]\\d{0,2})");

	private static final Pattern VARIABLE_IN_TEXT = Pattern.compile("#(\\w+)");

	private static final Set<String> ALWAYS_THERE = Set.of("root", "this");

	private final Method method;

	private final @Nullable String @Nullable [] names;

	private final KeyMemberVerifier members;

	private final Set<String> variables = new TreeSet<>();

	private final Set<String> texts = new TreeSet<>();

	private final Set<String> properties = new TreeSet<>();

	KeyExpressionVerifier(Method method, ParameterNameDiscoverer names, TypeLocator types) {
		this.method = method;
		this.names = names.getParameterNames(method);
		this.members = new KeyMemberVerifier(method, this::indexOf, types);
	}

	/**
	 * Verifies an expression.
	 * @return the problem, as the end of a sentence that starts with the key, or
	 * {@code null}
	 */
	@Nullable String problem(SpelNode expression) {
		collect(expression, true);
		return Stream
			.<Supplier<@Nullable String>>of(this::unknownVariable, this::ambiguousVariable,
					() -> textThatIsAName(expression), this::variableInText, this::unknownProperty,
					() -> this.members.problem(expression), () -> constantWithoutIdentity(expression),
					() -> valueWithoutIdentity(expression))
			.map(Supplier::get)
			.filter(Objects::nonNull)
			.findFirst()
			.orElse(null);
	}

	private void collect(SpelNode node, boolean ofTheRoot) {
		if (node instanceof VariableReference variable) {
			this.variables.add(variable.toStringAST().substring(1));
		}
		else if (node instanceof StringLiteral text) {
			this.texts.add(String.valueOf(text.getLiteralValue().getValue()));
		}
		else if (ofTheRoot && node instanceof PropertyOrFieldReference property) {
			this.properties.add(property.getName());
		}
		for (int i = 0; i < node.getChildCount(); i++) {
			collect(node.getChild(i), ofTheRoot && !isOfAnother(node, i));
		}
	}

	/** Returns whether a name in this child is not a property of the root. */
	private static boolean isOfAnother(SpelNode node, int child) {
		return (node instanceof CompoundExpression && child > 0) || node instanceof Indexer || node instanceof InlineMap
				|| node instanceof Projection || node instanceof Selection;
	}

	private @Nullable String unknownVariable() {
		Set<String> unknown = new TreeSet<>(this.variables);
		unknown.removeAll(ALWAYS_THERE);
		unknown.removeIf(this::isPosition);
		if (unknown.isEmpty()) {
			return null;
		}
		if (this.names == null) {
			return "uses a parameter name, but the class file contains no parameter names. Compile it with '-parameters', or use #p0 for the first parameter";
		}
		unknown.removeAll(Arrays.asList(this.names));
		if (unknown.isEmpty()) {
			return null;
		}
		return "uses #%s, but ".formatted(String.join(", #", unknown)) + ((this.names.length == 0)
				? "the method has no parameters. Add one, or omit the key if all calls should share one lock"
				: "the parameters are named %s. Use one of them".formatted(Arrays.toString(this.names)));
	}

	/** One argument hides the other, as with {@code @Cacheable}. */
	private @Nullable String ambiguousVariable() {
		List<@Nullable String> all = (this.names != null) ? Arrays.asList(this.names) : List.of();
		for (String variable : this.variables) {
			int named = all.indexOf(variable);
			if (isPosition(variable) && named >= 0 && named != indexOf(variable)) {
				String prefix = variable.startsWith("a") ? "#p" : "#a";
				return "uses #%s, which is the name of one parameter and the position of another. Use %s or %s instead"
					.formatted(variable, prefix + named, prefix + indexOf(variable));
			}
		}
		return null;
	}

	private boolean isPosition(String variable) {
		Matcher matcher = POSITIONAL.matcher(variable);
		return matcher.matches() && Integer.parseInt(matcher.group(1)) < this.method.getParameterCount();
	}

	private boolean isParameter(String name) {
		return isPosition(name) || (this.names != null && Arrays.asList(this.names).contains(name));
	}

	private @Nullable String variableInText() {
		for (String text : this.texts) {
			Matcher variable = VARIABLE_IN_TEXT.matcher(text);
			while (variable.find()) {
				if (isParameter(variable.group(1))) {
					return "has #%1$s inside a string literal, where it is not evaluated, so all calls would share one lock. Write it outside the quotes, as in \"'order-' + #%1$s\""
						.formatted(variable.group(1));
				}
			}
		}
		return null;
	}

	private @Nullable String textThatIsAName(SpelNode expression) {
		boolean name = expression instanceof StringLiteral && this.names != null
				&& this.texts.stream().anyMatch(Arrays.asList(this.names)::contains);
		return name
				? "is the text '%1$s' instead of the parameter with that name, so all calls would share one lock. Write #%1$s"
					.formatted(String.join("", this.texts))
				: null;
	}

	private @Nullable String unknownProperty() {
		for (String property : this.properties) {
			if (BeanUtils.getPropertyDescriptor(LockKey.Root.class, property) == null) {
				return "refers to '%1$s', which does not exist. Write #%1$s for a parameter, or '%1$s' in quotes for a text"
					.formatted(property);
			}
		}
		return null;
	}

	private static @Nullable String constantWithoutIdentity(SpelNode expression) {
		if (!(expression instanceof Literal constant)) {
			return null;
		}
		try {
			return BlankText.isBlank(KeyText.of(constant.getLiteralValue().getValue())) ? KeyText.shared("blank")
					: null;
		}
		catch (NotAKeyException ex) {
			return ex.getMessage();
		}
	}

	/**
	 * If the key is a parameter itself, its declared type shows whether it has a text.
	 */
	private @Nullable String valueWithoutIdentity(SpelNode expression) {
		int index = (expression instanceof VariableReference variable) ? indexOf(variable.toStringAST().substring(1))
				: -1;
		if (index < 0) {
			return null;
		}
		ResolvableType type = ResolvableType.forMethodParameter(this.method, index);
		if (!type.isArray() && type.as(Iterable.class) != ResolvableType.NONE) {
			type = type.as(Iterable.class).getGeneric(0);
		}
		while (type.isArray()) {
			type = type.getComponentType();
		}
		return KeyText.problem(type.toClass());
	}

	private int indexOf(String variable) {
		Matcher position = POSITIONAL.matcher(variable);
		List<@Nullable String> all = (this.names != null) ? Arrays.asList(this.names) : List.of();
		return (isPosition(variable) && position.matches()) ? Integer.parseInt(position.group(1))
				: all.indexOf(variable);
	}

}
