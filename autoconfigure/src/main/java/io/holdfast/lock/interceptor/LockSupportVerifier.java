package io.holdfast.lock.interceptor;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.SmartInitializingSingleton;

import io.holdfast.lock.LockRequest;
import io.holdfast.lock.engine.LockBackends;

/**
 * Checks that the stores can do what the annotations ask of them: at the end of the
 * start, when the stores are there, and for a bean that is created later, then.
 */
public final class LockSupportVerifier implements SmartInitializingSingleton {

	private final Supplier<LockBackends> backends;

	private final Supplier<@Nullable String> whyNotFenced;

	private final Queue<LockMethodSpec> unchecked = new ConcurrentLinkedQueue<>();

	private volatile boolean started;

	/**
	 * Create the verifier.
	 * @param backends the stores, looked up at the end of the start
	 * @param whyNotFenced why transactions are not fenced, or {@code null} if they are;
	 * asked for if an annotation wants that
	 */
	public LockSupportVerifier(Supplier<LockBackends> backends, Supplier<@Nullable String> whyNotFenced) {
		this.backends = backends;
		this.whyNotFenced = whyNotFenced;
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
		String unfenced = spec.fenced() ? this.whyNotFenced.get() : null;
		if (unfenced != null) {
			throw LockMethodSpecs.problem(spec.method(),
					"it asks for 'fenced = true', and no transaction is fenced: " + unfenced);
		}
		LockRequest request = spec.template();
		request.locks()
			.forEach((lock, mode) -> this.backends.get()
				.requireSupport(request.backend(), mode, request.fair(), request.leaseTime(),
						() -> "@DistributedLock on " + MethodText.of(spec.method())));
	}

}
