package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.junit.jupiter.api.Test;

/**
 * Explores the interleavings of callers that enter and leave a wait queue. Each outcome
 * must be possible for callers that run one after another, so no two are ever admitted
 * together.
 */
public class LocalWaitQueuesModelTests {

	/** A caller that does not wait is either admitted at once or rejected. */
	private static final ResolvedRequest NOT_WAITING = ResolvedRequest
		.of(EngineFixture.request().waitTime(Duration.ZERO).build(),
				new LockBackends(List.of(new FakeBackend()), "fake"), EngineSettings.DEFAULTS)
		.get(0);

	private static final boolean THOROUGH = Boolean.getBoolean("thorough");

	private static final int THREADS = 8;

	private final LocalWaitQueues queues = new LocalWaitQueues(new ManualTime());

	/** Tickets of admitted threads. Each element is accessed by its own thread only. */
	private final LocalWaitQueues.Ticket[] admitted = new LocalWaitQueues.Ticket[THREADS];

	@Operation
	public boolean enter(@Param(gen = ThreadIdGen.class) int thread) {
		if (this.admitted[thread] != null) {
			return false;
		}
		LocalWaitQueues.Ticket ticket = this.queues.ticket(NOT_WAITING, 0, Runnable::run,
				LocalWaitQueuesModelTests::failAsNotWaiting);
		boolean admitted = ticket.enter() == LocalWaitQueues.State.ADMITTED;
		this.admitted[thread] = admitted ? ticket : null;
		return admitted;
	}

	@Operation
	public boolean leave(@Param(gen = ThreadIdGen.class) int thread) {
		LocalWaitQueues.Ticket ticket = this.admitted[thread];
		this.admitted[thread] = null;
		if (ticket != null) {
			ticket.leave();
		}
		return ticket != null;
	}

	private static void failAsNotWaiting() {
		throw new IllegalStateException("it did not wait");
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

}
