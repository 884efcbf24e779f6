package io.holdfast.lock.interceptor;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Supplier;

import org.springframework.beans.factory.SmartInitializingSingleton;

import io.holdfast.lock.LockRequest;
import io.holdfast.lock.engine.LockBackends;

/**
 * Checks that the stores can do what the annotations ask of them: at the end of the
 * start, when the stores are there, and for a bean that is created later, then.
 */
public final class LockSupportVerifier implements SmartInitializingSingleton {

	private final Supplier<LockBackends> backends;

	private final Queue<LockMethodSpec> unchecked = new ConcurrentLinkedQueue<>();

	private volatile boolean started;

	/**
	 * Create the verifier.
	 * @param backends the stores, looked up at the end of the start
	 */
	public LockSupportVerifier(Supplier<LockBackends> backends) {
		this.backends = backends;
	}

	void add(LockMethodSpec spec) {
		this.unchecked.add(spec);
		if (this.started) {
			check();
		}
	}

	@Override
	public void afterSingletonsInstantiated() {
		this.started = true;
		check();
	}

	private void check() {
		LockMethodSpec spec;
		while ((spec = this.unchecked.poll()) != null) {
			check(spec);
		}
	}

	private void check(LockMethodSpec spec) {
		LockRequest request = spec.template();
		request.locks()
			.forEach((lock, mode) -> this.backends.get()
				.requireSupport(request.backend(), mode, request.fair(), request.leaseTime(),
						() -> "@DistributedLock on " + MethodText.of(spec.method())));
	}

}
