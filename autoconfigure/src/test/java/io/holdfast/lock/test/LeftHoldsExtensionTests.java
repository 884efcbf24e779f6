package io.holdfast.lock.test;

import java.util.List;

import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Events;

import io.holdfast.lock.LockContext;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.backend.local.LocalLockBackend;
import io.holdfast.lock.engine.EngineSettings;
import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.engine.LockEngine;
import io.holdfast.lock.spi.TransactionBoundary;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;
import static org.junit.platform.testkit.engine.EventConditions.event;
import static org.junit.platform.testkit.engine.EventConditions.finishedSuccessfully;
import static org.junit.platform.testkit.engine.EventConditions.finishedWithFailure;
import static org.junit.platform.testkit.engine.EventConditions.test;
import static org.junit.platform.testkit.engine.TestExecutionResultConditions.message;
import static org.junit.platform.testkit.engine.TestExecutionResultConditions.suppressed;

class LeftHoldsExtensionTests {

	@Test
	void openHoldFailsOnlyTheTestThatLeavesIt() {
		Events events = EngineTestKit.engine("junit-jupiter")
			.selectors(DiscoverySelectors.selectClass(LeakyTest.class))
			.configurationParameter("junit.jupiter.extensions.autodetection.enabled", "true")
			.execute()
			.testEvents();
		events.assertThatEvents()
			.haveExactly(1,
					event(test("leavesAHold"),
							finishedWithFailure(message((text) -> text.contains("left these holds")
									&& text.contains("stock:1") && text.contains("leavesAHold")))))
			.haveExactly(1,
					event(test("failsAndLeavesAHold"),
							finishedWithFailure(message("by itself"),
									suppressed(0, message((text) -> text.contains("stock:2"))))))
			.haveExactly(1, event(test("findsNone"), finishedSuccessfully()));
		assertThat(LockContext.handles()).isEmpty();
	}

	@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
	static class LeakyTest {

		private final LockEngine engine = new LockEngine(
				new LockBackends(List.of(new LocalLockBackend()), LocalLockBackend.NAME), EngineSettings.DEFAULTS,
				TransactionBoundary.NONE, List.of());

		@Test
		@Order(1)
		void leavesAHold() {
			assertThat(this.engine.acquire(LockRequest.of("stock", 1)).isHeld()).isTrue();
		}

		@Test
		@Order(2)
		void failsAndLeavesAHold() {
			assertThat(this.engine.acquire(LockRequest.of("stock", 2)).isHeld()).isTrue();
			fail("by itself");
		}

		@Test
		@Order(3)
		void findsNone() {
			assertThat(LockContext.handles()).isEmpty();
		}

	}

}
