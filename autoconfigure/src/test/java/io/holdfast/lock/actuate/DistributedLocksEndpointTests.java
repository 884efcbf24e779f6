package io.holdfast.lock.actuate;

import java.util.List;

import org.junit.jupiter.api.Test;

import org.springframework.context.ApplicationEventPublisher;

import io.holdfast.lock.LockInspector;
import io.holdfast.lock.backend.local.LocalLockBackend;
import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.test.Slow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

/**
 * Tests for the listeners of {@link DistributedLocksEndpoint}.
 */
class DistributedLocksEndpointTests {

	/** Kotlin throws checked exceptions undeclared. */
	@Slow
	@Test
	void interruptOfAnAuditListenerIsLeftToItsThread() {
		ApplicationEventPublisher interrupted = (event) -> DistributedLocksEndpointTests
			.<RuntimeException>throwUndeclared(new InterruptedException());
		LockBackends backends = new LockBackends(List.of(new LocalLockBackend()), LocalLockBackend.NAME);
		DistributedLocksEndpoint endpoint = new DistributedLocksEndpoint(mock(LockInspector.class), backends,
				interrupted);
		assertThat(endpoint.forceRelease(new String[] { "stock:42" }, null, null, null, null)).isNull();
		assertThat(Thread.interrupted()).isTrue();
	}

	@SuppressWarnings("unchecked")
	private static <E extends Throwable> void throwUndeclared(Throwable failure) throws E {
		throw (E) failure;
	}

}
