package io.holdfast.lock.engine;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.jetbrains.lincheck.datastructures.Validate;

import io.holdfast.lock.support.StripedMap;

/**
 * Explores the interleavings of callers that enter and leave a wait queue. Each outcome
 * must be possible for callers that run one after another, so no two are ever admitted
 * together.
 */
public class LocalWaitQueuesModel {

	private static final ResolvedRequest REQUEST = ResolvedRequest
		.of(EngineFixture.request().build(), new LockBackends(List.of(new FakeBackend()), "fake"),
				EngineSettings.DEFAULTS)
		.get(0);

	/**
	 * A waiter that has aged is admitted in the same atomic step in which the caller
	 * before it leaves.
	 */
	private static final long AGED = -TimeUnit.MILLISECONDS.toNanos(1);

	private static final boolean THOROUGH = Boolean.getBoolean("thorough");

	private static final int THREADS = 8;

	/** One stripe: all callers want the same lock, and more stripes only take time. */
	private final LocalWaitQueues queues = new LocalWaitQueues(new ManualTime(), new StripedMap<>(1));

	/** Tickets of the threads. Each element is accessed by its own thread only. */
	private final LocalWaitQueues.Ticket[] tickets = new LocalWaitQueues.Ticket[THREADS];

	@Operation
	public String enter(@Param(gen = ThreadIdGen.class) int thread) {
		if (this.tickets[thread] != null) {
			return "present";
		}
		this.tickets[thread] = new FakeTicket(this.queues, REQUEST, AGED, Runnable::run, () -> {
		});
		return this.tickets[thread].enter().name();
	}

	@Operation
	public boolean isAdmitted(@Param(gen = ThreadIdGen.class) int thread) {
		return this.tickets[thread] != null && this.tickets[thread].isAdmitted();
	}

	@Operation
	public void leaving(@Param(gen = ThreadIdGen.class) int thread) {
		if (this.tickets[thread] != null) {
			this.tickets[thread].leaving();
		}
	}

	@Operation
	public boolean isHolderLeaving() {
		return new FakeTicket(this.queues, REQUEST, AGED, Runnable::run, () -> {
		}).isHolderLeaving();
	}

	@Operation
	public void leave(@Param(gen = ThreadIdGen.class) int thread) {
		if (this.tickets[thread] != null) {
			this.tickets[thread].leave();
			this.tickets[thread] = null;
		}
	}

	@Validate
	public void oneOfTheCallersIsAdmitted() {
		List<LocalWaitQueues.Ticket> present = Stream.of(this.tickets).filter(Objects::nonNull).toList();
		long admitted = present.stream().filter(LocalWaitQueues.Ticket::isAdmitted).count();
		int expected = present.isEmpty() ? 0 : 1;
		if (admitted != expected || this.queues.size() != expected) {
			throw new IllegalStateException("violated: %s of %s callers are admitted, in %s queues".formatted(admitted,
					present.size(), this.queues.size()));
		}
	}

	/** Fails unless every interleaving that is explored is linearizable. */
	static void explore() {
		new ModelCheckingOptions().threads(3)
			.actorsPerThread(3)
			.iterations(THOROUGH ? 50 : 2)
			.invocationsPerIteration(THOROUGH ? 2_000 : 40)
			// longer than a busy machine needs; slowness must not be reported as a hang
			.invocationTimeout$lincheck(TimeUnit.MINUTES.toMillis(2))
			.check(LocalWaitQueuesModel.class);
	}

}
