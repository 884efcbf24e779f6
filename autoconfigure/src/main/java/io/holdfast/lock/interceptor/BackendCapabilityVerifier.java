package io.holdfast.lock.interceptor;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.SmartInitializingSingleton;

import io.holdfast.lock.LockRequest;
import io.holdfast.lock.engine.EngineSettings;
import io.holdfast.lock.engine.LockBackends;

/**
 * Verifies that the backends support the requirements of the annotations, and that these
 * agree with the settings of the application. The verification runs at the end of
 * startup, when the backends are available, and immediately for a bean that is created
 * later.
 */
public final class BackendCapabilityVerifier implements SmartInitializingSingleton {

	private final Supplier<LockBackends> backends;

	private final Supplier<@Nullable Duration> leaseTime;

	private final BiFunction<Method, Class<?>, @Nullable String> unfencedReason;

	private final Consumer<String> requireAvailable;

	private final Queue<Unchecked> unchecked = new ConcurrentLinkedQueue<>();

	private volatile boolean started;

	/**
	 * Creates the verifier.
	 * @param backends the backends, looked up at the end of startup
	 * @param leaseTime returns the application's lease, or {@code null} if it is unknown
	 * @param unfencedReason returns why the transaction of a method is not fenced, or
	 * {@code null} if it is fenced or that is not known yet; called if the annotation
	 * requires fencing
	 * @param requireAvailable verifies, at the end of startup, that a backend that a
	 * method names can be used
	 */
	public BackendCapabilityVerifier(Supplier<LockBackends> backends, Supplier<@Nullable Duration> leaseTime,
			BiFunction<Method, Class<?>, @Nullable String> unfencedReason, Consumer<String> requireAvailable) {
		this.backends = backends;
		this.leaseTime = leaseTime;
		this.unfencedReason = unfencedReason;
		this.requireAvailable = requireAvailable;
	}

	void add(LockMethodSpec spec, Class<?> type) {
		this.unchecked.add(new Unchecked(spec, type));
		if (this.started) {
			check();
		}
	}

	@Override
	public void afterSingletonsInstantiated() {
		this.started = true;
		check().forEach(this.requireAvailable);
	}

	/** Returns the backends that the methods name. */
	private Set<String> check() {
		Set<String> names = new LinkedHashSet<>();
		Unchecked next;
		while ((next = this.unchecked.poll()) != null) {
			check(next.spec(), next.type());
			String backend = next.spec().template().backend();
			if (backend != null) {
				names.add(backend);
			}
		}
		return names;
	}

	private void check(LockMethodSpec spec, Class<?> type) {
		KeySource key = spec.key();
		if (key != null && !this.backends.get().hasStandIn()) {
			key.requireBeans();
		}
		String unfenced = spec.fenced() ? this.unfencedReason.apply(spec.method(), type) : null;
		if (unfenced != null) {
			throw LockMethodSpecs.problem(spec.method(),
					"it has 'fenced = true', but would not be fenced: " + unfenced);
		}
		LockRequest request = spec.template();
		Supplier<String> user = () -> "@DistributedLock on " + MethodText.of(spec.method());
		request.locks()
			.forEach((lock, mode) -> this.backends.get()
				.requireSupport(request.backend(), mode, request.fair(), request.leaseTime(), user));
		Duration applied = this.leaseTime.get();
		if (applied != null) {
			EngineSettings.requireLease(request, applied, user);
		}
	}

	/**
	 * An annotated method of a bean.
	 */
	private record Unchecked(LockMethodSpec spec, Class<?> type) {

	}

}
