package io.holdfast.lock.test;

import java.util.List;

import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

import io.holdfast.lock.LockContext;
import io.holdfast.lock.LockHandle;

/**
 * Fails each test that leaves holds on its thread, and unbinds these holds. Otherwise,
 * later tests would run within them. The build registers this extension for all tests.
 */
public final class LeftHoldsExtension implements AfterEachCallback {

	@Override
	public void afterEach(ExtensionContext context) {
		List<LockHandle> left = LockContext.handles();
		left.forEach(LockContext::unbind);
		if (!left.isEmpty()) {
			throw new AssertionError(
					"'%s' left these holds on its thread: %s. Close each handle, also where a test fails."
						.formatted(context.getDisplayName(), left.stream().map(LockHandle::lock).toList()));
		}
	}

}
