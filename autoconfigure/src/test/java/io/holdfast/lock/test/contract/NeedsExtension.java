package io.holdfast.lock.test.contract;

import java.util.Set;
import java.util.stream.Stream;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestTemplateInvocationContext;
import org.junit.jupiter.api.extension.TestTemplateInvocationContextProvider;

/**
 * Generates a case once if the store has all the abilities that the case needs, and not
 * at all otherwise.
 */
final class NeedsExtension implements TestTemplateInvocationContextProvider {

	@Override
	public boolean supportsTestTemplate(ExtensionContext context) {
		return context.getRequiredTestMethod().isAnnotationPresent(Needs.class);
	}

	@Override
	public boolean mayReturnZeroTestTemplateInvocationContexts(ExtensionContext context) {
		return true;
	}

	@Override
	public Stream<TestTemplateInvocationContext> provideTestTemplateInvocationContexts(ExtensionContext context) {
		LockBackendContract contract = (LockBackendContract) context.getRequiredTestInstance();
		Set<Ability> needs = Set.of(context.getRequiredTestMethod().getAnnotation(Needs.class).value());
		if (needs.stream().anyMatch(contract.lacks()::containsKey)) {
			return Stream.empty();
		}
		return Stream.of(new TestTemplateInvocationContext() {
			@Override
			public String getDisplayName(int invocationIndex) {
				return "with " + needs;
			}
		});
	}

}
