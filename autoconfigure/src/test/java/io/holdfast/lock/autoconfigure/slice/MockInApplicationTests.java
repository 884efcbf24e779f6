package io.holdfast.lock.autoconfigure.slice;

import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

import io.holdfast.lock.LockInspector;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.actuate.LockHealthContributor;
import io.holdfast.lock.autoconfigure.DistributedLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.LocalLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockEndpointAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockHealthAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockInfoAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockInspectorAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockInterceptorAutoConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for a whole application in which a mock takes the place of the engine.
 */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.NONE, properties = "distributed-lock.backend=local")
class MockInApplicationTests {

	@Autowired
	private LockInspector inspector;

	@Autowired
	private LockHealthContributor health;

	@MockitoBean
	private LockOperations locks;

	@Test
	void applicationStartsAndMockHoldsNoLocks() {
		LockName lock = LockName.of("stock", "1");
		assertThat(this.inspector.held()).isEmpty();
		assertThat(this.inspector.waiting()).isEmpty();
		assertThat(this.inspector.find(lock, null).holders()).isEmpty();
		assertThat(this.inspector.forceRelease(lock, null, (holder) -> true)).isEmpty();
	}

	@Test
	void storeIsStillChecked() {
		assertThat(((HealthIndicator) this.health.getContributor("local")).health()).extracting(Health::getStatus)
			.isEqualTo(Status.UP);
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ DistributedLockAutoConfiguration.class, LocalLockAutoConfiguration.class,
			LockInterceptorAutoConfiguration.class, LockInspectorAutoConfiguration.class,
			LockEndpointAutoConfiguration.class, LockHealthAutoConfiguration.class, LockInfoAutoConfiguration.class })
	static class Application {

	}

}
