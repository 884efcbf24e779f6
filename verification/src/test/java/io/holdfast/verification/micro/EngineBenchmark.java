package io.holdfast.verification.micro;

import java.util.List;
import java.util.stream.IntStream;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

import io.holdfast.lock.LockRequest;
import io.holdfast.lock.backend.local.LocalLockBackend;
import io.holdfast.lock.engine.EngineSettings;
import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.engine.LockEngine;
import io.holdfast.lock.spi.TransactionBoundary;

/**
 * Measures one uncontended pair of acquire and close on the store in memory, beside a
 * lock by key without a store. Uses only the public API, so that it runs on any version
 * of the library.
 *
 * @see MicroBenchmarks
 */
@State(Scope.Thread)
public class EngineBenchmark {

	private static final int KEYS = 16;

	private final LockEngine engine = new LockEngine(new LockBackends(List.of(new LocalLockBackend()), "local"),
			EngineSettings.DEFAULTS, TransactionBoundary.NONE, List.of());

	private final LockRequest[] requests = IntStream.range(0, KEYS)
		.mapToObj((i) -> LockRequest.of("benchmark", i))
		.toArray(LockRequest[]::new);

	private final KeyedLock<Object> baseline = new KeyedLock<>();

	private int next;

	@Benchmark
	public void oneKey() {
		this.engine.acquire(this.requests[0]).close();
	}

	@Benchmark
	public void sixteenKeys() {
		this.engine.acquire(next()).close();
	}

	@Benchmark
	public void baselineOneKey() {
		this.baseline.lock(this.requests[0].lock());
		this.baseline.unlock(this.requests[0].lock());
	}

	@Benchmark
	public void baselineSixteenKeys() {
		LockRequest request = next();
		this.baseline.lock(request.lock());
		this.baseline.unlock(request.lock());
	}

	private LockRequest next() {
		this.next = (this.next + 1) % KEYS;
		return this.requests[this.next];
	}

	@TearDown
	public void close() {
		this.engine.close();
	}

}
