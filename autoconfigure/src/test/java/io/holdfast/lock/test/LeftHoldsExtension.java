package io.holdfast.lock.test;

import java.util.List;

import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

import io.holdfast.lock.LockContext;
import io.holdfast.lock.LockHandle;

/**
 * Fails each test that leaves holds on its thread, and takes them off: the tests after it
 * would run within them. Registered for all tests by the build.
 */
public final class LeftHoldsExtension implements AfterEachCallback {

	@Override
	public void afterEach(ExtensionContext context) {
		List<LockHandle> left = LockContext.handles();
		left.forEach(LockContext::unbind);
		if (!left.isEmpty()) {
			throw new AssertionError(
					"'%s' left these holds on its thread: %s. Close each handle, also where a test fails."
						.formatted(context.getDisplayName(), left.stream().map(LockHandle::name).toList()));
		}
	}

}
