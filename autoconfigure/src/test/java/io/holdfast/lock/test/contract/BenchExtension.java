package io.holdfast.lock.test.contract;

import java.util.ArrayList;
import java.util.Collection;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.AfterTestExecutionCallback;
import org.junit.jupiter.api.extension.BeforeTestExecutionCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Provides each case with its {@link Bench}, and asserts afterwards that the case left
 * nothing new in the store. Skips this check if the case has failed, because it may have
 * stopped halfway.
 */
final class BenchExtension implements ParameterResolver, BeforeTestExecutionCallback, AfterTestExecutionCallback {

	private static final Namespace NAMESPACE = Namespace.create(BenchExtension.class);

	@Override
	public void beforeTestExecution(ExtensionContext context) throws Exception {
		context.getStore(NAMESPACE).put("before", new ArrayList<>(contract(context).leftovers()));
	}

	@Override
	public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
		return parameter.getParameter().getType() == Bench.class;
	}

	@Override
	public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
		return new Bench(contract(context));
	}

	@Override
	public void afterTestExecution(ExtensionContext context) {
		if (context.getExecutionException().isPresent()) {
			return;
		}
		LockBackendContract contract = contract(context);
		Collection<?> before = context.getStore(NAMESPACE).get("before", Collection.class);
		Awaitility.await()
			.atMost(contract.bound())
			.untilAsserted(() -> assertThat(contract.leftovers()).as("left behind in the store")
				.allMatch(before::contains, "was there before the case"));
	}

	private static LockBackendContract contract(ExtensionContext context) {
		return (LockBackendContract) context.getRequiredTestInstance();
	}

}
