package io.holdfast.lock.autoconfigure.slice;

import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.bean.override.mockito.MockitoSpyBean;
import org.springframework.test.util.AopTestUtils;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.autoconfigure.DistributedLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.LocalLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockInterceptorAutoConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.doReturn;
import static org.mockito.Mockito.verify;

/**
 * Tests for a spy of a bean with locked methods.
 */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.NONE, properties = "distributed-lock.backend=local")
class SpyBeanTests {

	@MockitoSpyBean
	private Sales sales;

	@Test
	void methodOfASpyHoldsItsLock() {
		assertThat(this.sales.sell("book")).isEqualTo("stock:book");
		verify(this.sales).sell(any());
	}

	// tag::stub[]
	@Test
	void oneIsSold() {
		Sales spy = AopTestUtils.getUltimateTargetObject(this.sales);
		doReturn("sold").when(spy).sell(any());

		assertThat(this.sales.sell("book")).isEqualTo("sold");

		verify(this.sales).sell("book");
	}
	// end::stub[]

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ DistributedLockAutoConfiguration.class, LocalLockAutoConfiguration.class,
			LockInterceptorAutoConfiguration.class })
	@Import(Sales.class)
	static class Application {

	}

	/**
	 * Sells under a lock.
	 */
	static class Sales {

		@DistributedLock(name = "stock", key = "#sku")
		public String sell(String sku) {
			return LockHandle.current().map((handle) -> handle.lock().toString()).orElse("none");
		}

	}

}
