package io.holdfast.lock.interceptor;

import java.util.List;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/**
 * A key that consists of several parts. Different parts produce different keys.
 *
 * @param parts the expressions of the parts
 */
record CompoundKey(List<LockKey> parts) implements KeySource {

	@Override
	public List<String> evaluate(@Nullable Object target, Class<?> targetClass, @Nullable Object[] arguments) {
		return List.of(this.parts.stream()
			.map((part) -> escaped(part.evaluatePart(target, targetClass, arguments)))
			.collect(Collectors.joining(",")));
	}

	@Override
	public void requireBeans() {
		this.parts.forEach(LockKey::requireBeans);
	}

	private static String escaped(String part) {
		return part.replace("\\", "\\\\").replace(",", "\\,");
	}

}
