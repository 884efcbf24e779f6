package io.holdfast.lock.engine;

import java.util.concurrent.TimeUnit;

import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;

/**
 * Explores the interleavings of callers that enter and leave a wait queue. Each outcome
 * must be possible for callers that run one after another, so no two are ever admitted
 * together.
 */
public class LocalWaitQueuesModelTests {

	private static final LocalWaitQueues.QueueKey KEY = new LocalWaitQueues.QueueKey("local", LockName.of("stock"),
			LockMode.EXCLUSIVE);

	private static final boolean THOROUGH = Boolean.getBoolean("thorough");

	private static final int THREADS = 8;

	private final LocalWaitQueues queues = new LocalWaitQueues(new ManualTime());

	/** Which threads are admitted. Each element is accessed by its own thread only. */
	private final boolean[] admitted = new boolean[THREADS];

	@Operation
	public boolean enter(@Param(gen = ThreadIdGen.class) int thread) {
		if (!this.admitted[thread]) {
			this.admitted[thread] = this.queues.enter(KEY,
					new NonWaitingCaller()) == LocalWaitQueues.Admission.ADMITTED;
			return this.admitted[thread];
		}
		return false;
	}

	@Operation
	public boolean leave(@Param(gen = ThreadIdGen.class) int thread) {
		boolean wasAdmitted = this.admitted[thread];
		if (wasAdmitted) {
			this.admitted[thread] = false;
			this.queues.leave(KEY);
		}
		return wasAdmitted;
	}

	@Test
	void everyInterleavingIsLinearizable() {
		new ModelCheckingOptions().threads(3)
			.actorsPerThread(3)
			.iterations(THOROUGH ? 50 : 5)
			.invocationsPerIteration(THOROUGH ? 2_000 : 200)
			// longer than a busy machine needs; slowness must not be reported as a hang
			.invocationTimeout$lincheck(TimeUnit.MINUTES.toMillis(2))
			.check(LocalWaitQueuesModelTests.class);
	}

	/**
	 * A waiter that is either admitted at once or rejected.
	 */
	private static final class NonWaitingCaller implements LocalWaitQueues.Waiter {

		@Override
		public long since() {
			return 0;
		}

		@Override
		public boolean waits() {
			return false;
		}

		@Override
		public boolean fair() {
			return false;
		}

		@Override
		public void onHandedOver() {
			throw new IllegalStateException("it did not wait");
		}

		@Override
		public void onAvailable() {
			throw new IllegalStateException("it did not wait");
		}

	}

}
