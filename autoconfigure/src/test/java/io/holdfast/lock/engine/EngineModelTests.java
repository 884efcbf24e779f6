package io.holdfast.lock.engine;

import org.junit.jupiter.api.Test;

/**
 * Explores interleavings in the parts of the engine whose order decides, with Lincheck.
 * All models run in one JVM, because Lincheck instruments the classes in each JVM again.
 */
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
