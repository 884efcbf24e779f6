package io.holdfast.lock.interceptor;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.core.ResolvableType;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.TypeLocator;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.ConstructorReference;
import org.springframework.expression.spel.ast.Elvis;
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.IntLiteral;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.OpAnd;
import org.springframework.expression.spel.ast.OpOr;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.Selection;
import org.springframework.expression.spel.ast.Ternary;
import org.springframework.expression.spel.ast.TypeReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.util.ClassUtils;

/**
 * Verifies the types, members and arguments that a key expression refers to, as far as
 * the class path and the declared types of the parameters show them.
 */
final class KeyMemberVerifier {

	private final Method method;

	private final ToIntFunction<String> indexOf;

	private final TypeLocator types;

	/**
	 * Creates a verifier.
	 * @param method the annotated method
	 * @param indexOf returns the position of the parameter of a variable, or a negative
	 * number
	 * @param types finds types by their names
	 */
	KeyMemberVerifier(Method method, ToIntFunction<String> indexOf, TypeLocator types) {
		this.method = method;
		this.indexOf = indexOf;
		this.types = types;
	}

	/**
	 * Returns the first problem of an expression, as the end of a sentence that starts
	 * with the key, or {@code null}.
	 */
	@Nullable String problem(SpelNode node) {
		return problem(node, true);
	}

	private @Nullable String problem(SpelNode node, boolean ofTheRoot) {
		String problem = null;
		if (node instanceof TypeReference || node instanceof ConstructorReference) {
			problem = unknownType(node.getChild(0).toStringAST());
		}
		else if (node instanceof CompoundExpression && node.getChild(0) instanceof VariableReference variable) {
			String name = variable.toStringAST().substring(1);
			problem = name.equals("root") ? missingArgument(node, 1) : unknownMember(name, node.getChild(1));
		}
		else if (node instanceof CompoundExpression && ofTheRoot) {
			problem = missingArgument(node, 0);
		}
		boolean ofAnElement = node instanceof Projection || node instanceof Selection;
		for (int i = 0; i < evaluated(node) && problem == null; i++) {
			problem = problem(node.getChild(i), ofTheRoot && !ofAnElement);
		}
		return problem;
	}

	/**
	 * Returns how many children every call evaluates. A composed annotation may have one
	 * key for methods with different parameters.
	 */
	private static int evaluated(SpelNode node) {
		boolean conditional = node instanceof Ternary || node instanceof Elvis || node instanceof OpAnd
				|| node instanceof OpOr;
		return conditional ? 1 : node.getChildCount();
	}

	/** A name in lower case without a package may be that of a primitive type. */
	private @Nullable String unknownType(String name) {
		if (!name.contains(".") && Character.isLowerCase(name.charAt(0))) {
			return null;
		}
		try {
			this.types.findType(name);
			return null;
		}
		catch (EvaluationException ex) {
			return "refers to the type '%s', which does not exist. Correct the name, with its package".formatted(name);
		}
	}

	/** The arguments may be at the root, or after {@code #root}. */
	private @Nullable String missingArgument(SpelNode node, int args) {
		int count = this.method.getParameterCount();
		if (node.getChildCount() > args + 1 && node.getChild(args) instanceof PropertyOrFieldReference property
				&& property.getName().equals("args") && node.getChild(args + 1) instanceof Indexer indexer
				&& indexer.getChild(0) instanceof IntLiteral index && Integer.parseInt(index.toStringAST()) >= count) {
			return "refers to the argument %s, but the method has %s. The first argument is args[0]"
				.formatted(index.toStringAST(), (count == 1) ? "1 parameter" : count + " parameters");
		}
		return null;
	}

	/** If the type of a parameter is final, every value has the same members. */
	private @Nullable String unknownMember(String variable, SpelNode member) {
		int index = this.indexOf.applyAsInt(variable);
		Class<?> type = ClassUtils.resolvePrimitiveIfNecessary(
				(index >= 0) ? ResolvableType.forMethodParameter(this.method, index).toClass() : Object.class);
		if (!isKnownCompletely(type)) {
			return null;
		}
		if (member instanceof PropertyOrFieldReference property && !hasProperty(type, property.getName())) {
			return "refers to '%s', which the type %s does not have. Correct the name".formatted(property.getName(),
					type.getSimpleName());
		}
		if (member instanceof MethodReference called && !hasMethod(type, called.getName(), called.getChildCount())) {
			return "calls '%s' with %s, which the type %s does not have. Correct the name or the arguments".formatted(
					called.getName(),
					(called.getChildCount() == 1) ? "1 argument" : called.getChildCount() + " arguments",
					type.getSimpleName());
		}
		return null;
	}

	/** SpEL reads the length of an array, and may read the content of an Optional. */
	private static boolean isKnownCompletely(Class<?> type) {
		return Modifier.isFinal(type.getModifiers()) && !type.isArray() && type != Optional.class
				&& type != Class.class;
	}

	private static boolean hasProperty(Class<?> type, String name) {
		Stream<String> members = Stream.concat(Arrays.stream(type.getMethods()).map(Method::getName),
				Arrays.stream(type.getFields()).map(Field::getName));
		return members.anyMatch((member) -> member.equals(name) || member.equalsIgnoreCase("get" + name)
				|| member.equalsIgnoreCase("is" + name));
	}

	private static boolean hasMethod(Class<?> type, String name, int arguments) {
		return Arrays.stream(type.getMethods())
			.filter((method) -> method.getName().equals(name))
			.anyMatch((method) -> method.isVarArgs() || method.getParameterCount() == arguments);
	}

}
