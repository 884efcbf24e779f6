package io.holdfast.lock.engine;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.test.Slow;

/**
 * Explores interleavings in the parts of the engine whose order decides, with Lincheck.
 * All models run in one JVM, because Lincheck instruments the classes in each JVM again.
 */
@Slow
class EngineModelTests {

	@Test
	void everyInterleavingOfAHoldIsLinearizable() {
		HoldModel.explore();
	}

	@Test
	void everyInterleavingOfALeaseThatIsPassedOnIsLinearizable() {
		StoreLeaseModel.explore();
	}

	@Test
	void everyInterleavingOfAWaitQueueIsLinearizable() {
		LocalWaitQueuesModel.explore();
	}

}
