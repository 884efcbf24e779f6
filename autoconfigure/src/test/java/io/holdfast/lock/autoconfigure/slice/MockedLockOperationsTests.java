package io.holdfast.lock.autoconfigure.slice;

import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.WhenNotAcquired;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for a slice that mocks {@link LockOperations}, so that no action runs.
 */
@WebMvcTest
@Import(MockedLockOperationsTests.Sales.class)
class MockedLockOperationsTests {

	@MockitoBean
	private LockOperations locks;

	@Autowired
	private Sales sales;

	@Test
	void mockThatDoesNotRunTheActionIsReported() {
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(this.sales::sell)
			.withMessageContaining("Sales.sell()")
			.withMessageContaining("as a mock does")
			.withMessageContaining("distributed-lock.backend=local");
	}

	@Test
	void mockIsReportedForAMethodThatMaySkip() {
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(this.sales::skip);
	}

	static class Sales {

		@DistributedLock(name = "stock")
		public boolean sell() {
			return true;
		}

		@DistributedLock(name = "stock", whenNotAcquired = WhenNotAcquired.SKIP)
		public void skip() {
		}

	}

}
