package io.holdfast.lock.interceptor;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.springframework.expression.BeanResolver;
import org.springframework.expression.ConstructorResolver;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.IndexAccessor;
import org.springframework.expression.MethodResolver;
import org.springframework.expression.OperatorOverloader;
import org.springframework.expression.PropertyAccessor;
import org.springframework.expression.TypeComparator;
import org.springframework.expression.TypeConverter;
import org.springframework.expression.TypeLocator;
import org.springframework.expression.TypedValue;

/**
 * The evaluation context of a key expression in one call, with the variables of
 * {@code @Cacheable}. It reads them from the arguments: a context that copies them into a
 * map costs more than a compiled expression. Not thread-safe.
 */
final class KeyContext implements EvaluationContext {

	private final KeyVariables variables;

	private final LockKey.Root root;

	/** Values that the expression itself has assigned. */
	private @Nullable Map<String, @Nullable Object> assigned;

	KeyContext(KeyVariables variables, LockKey.Root root) {
		this.variables = variables;
		this.root = root;
	}

	@Override
	public TypedValue getRootObject() {
		return new TypedValue(this.root);
	}

	@Override
	public @Nullable Object lookupVariable(String name) {
		Map<String, @Nullable Object> own = this.assigned;
		return (own != null && own.containsKey(name)) ? own.get(name) : this.variables.value(name, this.root.args());
	}

	@Override
	public void setVariable(String name, @Nullable Object value) {
		if (this.assigned == null) {
			this.assigned = new HashMap<>();
		}
		this.assigned.put(name, value);
	}

	@Override
	public List<PropertyAccessor> getPropertyAccessors() {
		return this.variables.shared().getPropertyAccessors();
	}

	@Override
	public List<IndexAccessor> getIndexAccessors() {
		return this.variables.shared().getIndexAccessors();
	}

	@Override
	public List<ConstructorResolver> getConstructorResolvers() {
		return this.variables.shared().getConstructorResolvers();
	}

	@Override
	public List<MethodResolver> getMethodResolvers() {
		return this.variables.shared().getMethodResolvers();
	}

	@Override
	public @Nullable BeanResolver getBeanResolver() {
		return this.variables.shared().getBeanResolver();
	}

	@Override
	public TypeLocator getTypeLocator() {
		return this.variables.shared().getTypeLocator();
	}

	@Override
	public TypeConverter getTypeConverter() {
		return this.variables.shared().getTypeConverter();
	}

	@Override
	public TypeComparator getTypeComparator() {
		return this.variables.shared().getTypeComparator();
	}

	@Override
	public OperatorOverloader getOperatorOverloader() {
		return this.variables.shared().getOperatorOverloader();
	}

}
