package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.util.StringUtils;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.spi.BackendCapabilities;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.support.DurationText;
import io.holdfast.lock.support.NearestName;

/**
 * The stores of this application by name, and which of them is the default.
 *
 * <p>
 * Immutable and thread-safe.
 */
public final class LockBackends {

	private final Map<String, LockBackend> backends = new LinkedHashMap<>();

	private final LockBackend defaultBackend;

	private final boolean standIn;

	/**
	 * Create the directory.
	 * @param backends the stores, each with a name of its own
	 * @param defaultName the name of the default store
	 * @throws LockConfigurationException if two stores have one name, or the default is
	 * not among them
	 */
	public LockBackends(Collection<? extends LockBackend> backends, String defaultName) {
		this(backends, defaultName, false);
	}

	private LockBackends(Collection<? extends LockBackend> backends, String defaultName, boolean standIn) {
		for (LockBackend backend : backends) {
			if (this.backends.putIfAbsent(backend.name(), backend) != null) {
				throw new LockConfigurationException(
						"Two lock stores are named '%s'. Give one of the beans another name()."
							.formatted(backend.name()));
			}
		}
		this.defaultBackend = get(defaultName);
		this.standIn = standIn;
	}

	/**
	 * Create a directory whose default store stands in for every store that is not in it,
	 * as tests want it.
	 * @param backends the stores, each with a name of its own
	 * @param defaultName the name of the default store
	 * @return the directory
	 */
	public static LockBackends withStandIn(Collection<? extends LockBackend> backends, String defaultName) {
		return new LockBackends(backends, defaultName, true);
	}

	/**
	 * Whether the default store stands in for others, as in a test that has a part of the
	 * application's beans.
	 * @return whether it does
	 */
	public boolean hasStandIn() {
		return this.standIn;
	}

	/**
	 * The store of a name.
	 * @param name the name; {@code null} or empty for the default store
	 * @return the store
	 * @throws LockConfigurationException if there is none of that name
	 */
	public LockBackend get(@Nullable String name) {
		if (name == null || name.isEmpty()) {
			return this.defaultBackend;
		}
		LockBackend backend = find(name);
		if (backend == null) {
			throw unknown("There is no lock store '%s'", name);
		}
		return backend;
	}

	/** Blanks around a name and its case do not matter. */
	private @Nullable LockBackend find(String name) {
		LockBackend backend = this.backends.get(name);
		if (backend != null) {
			return backend;
		}
		String wanted = name.strip();
		return this.backends.values()
			.stream()
			.filter((candidate) -> candidate.name().equalsIgnoreCase(wanted))
			.findFirst()
			.orElse(this.standIn ? this.defaultBackend : null);
	}

	private LockConfigurationException unknown(String what, String name) {
		String nearest = NearestName.of(name.strip(), this.backends.keySet());
		return new LockConfigurationException(
				(what + "; configured are %s. %sUse one of these, or configure it under 'distributed-lock.%s'.")
					.formatted(name, this.backends.keySet(),
							(nearest != null) ? "Did you mean '%s'? ".formatted(nearest) : "", name));
	}

	/**
	 * Check that a store can do what is asked of it.
	 * @param name the store's name; {@code null} or empty for the default store
	 * @param mode the mode that is asked for
	 * @param fair whether a strict order is asked for
	 * @param leaseTime the lease that is asked for, or {@code null} for the default
	 * @param user who asks, for the message
	 * @throws LockConfigurationException if the store cannot do it
	 */
	public void requireSupport(@Nullable String name, LockMode mode, boolean fair, @Nullable Duration leaseTime,
			Supplier<String> user) {
		if (StringUtils.hasLength(name) && find(name) == null) {
			throw unknown(user.get() + " names the lock store '%s', and there is none", name);
		}
		LockBackend backend = get(name);
		BackendCapabilities able = backend.capabilities();
		if (mode == LockMode.SHARED && !able.shared()) {
			throw new LockConfigurationException(
					"%s asks for mode = SHARED, which the lock store '%s' does not have. Use EXCLUSIVE, or another store."
						.formatted(user.get(), backend.name()));
		}
		if (fair && !able.fair()) {
			throw new LockConfigurationException(
					"%s asks for fair = true, and the lock store '%s' keeps no order of arrival. Leave it out, or use another store."
						.formatted(user.get(), backend.name()));
		}
		if (leaseTime != null && leaseTime.compareTo(able.shortestLease()) < 0) {
			throw new LockConfigurationException(
					"%s asks for a lease of %s, and the lock store '%s' keeps none shorter than %s. Set a longer 'leaseTime'."
						.formatted(user.get(), DurationText.of(leaseTime), backend.name(),
								DurationText.of(able.shortestLease())));
		}
	}

	/**
	 * The name of the default store.
	 * @return the name
	 */
	public String defaultName() {
		return this.defaultBackend.name();
	}

}
