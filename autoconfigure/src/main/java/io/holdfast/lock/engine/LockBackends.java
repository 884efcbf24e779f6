package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.util.StringUtils;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.spi.BackendCapabilities;
import io.holdfast.lock.spi.Capability;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.support.DurationText;
import io.holdfast.lock.support.NearestName;

/**
 * Registry of the application's lock backends by name, one of which is the default.
 *
 * <p>
 * Thread-safe.
 */
public final class LockBackends {

	private final Map<String, LockBackend> backends = new LinkedHashMap<>();

	private final LockBackend defaultBackend;

	/** Names of the backends that were requested by name. */
	private final Set<String> requested = ConcurrentHashMap.newKeySet();

	private final boolean standIn;

	/**
	 * Creates a registry.
	 * @param backends the backends, with unique names
	 * @param defaultName the name of the default backend
	 * @throws LockConfigurationException if two backends have the same name, or the
	 * default backend is missing
	 */
	public LockBackends(Collection<? extends LockBackend> backends, String defaultName) {
		this(backends, defaultName, false);
	}

	private LockBackends(Collection<? extends LockBackend> backends, String defaultName, boolean standIn) {
		for (LockBackend backend : backends) {
			if (this.backends.putIfAbsent(backend.name(), backend) != null) {
				throw new LockConfigurationException(
						"Two lock backends are named '%s'. Change the name() of one of the beans."
							.formatted(backend.name()));
			}
		}
		this.defaultBackend = get(defaultName);
		this.standIn = standIn;
	}

	/**
	 * Creates a registry whose default backend replaces every backend that is not
	 * registered, for use in tests.
	 * @param backends the backends, with unique names
	 * @param defaultName the name of the default backend
	 * @return the registry
	 */
	public static LockBackends withStandIn(Collection<? extends LockBackend> backends, String defaultName) {
		return new LockBackends(backends, defaultName, true);
	}

	/**
	 * Returns whether the default backend replaces backends that are not registered, as
	 * in a test that loads only a part of the application's beans.
	 * @return whether it replaces other backends
	 */
	public boolean hasStandIn() {
		return this.standIn;
	}

	/**
	 * Returns the backend with the given name.
	 * @param name the name; {@code null} or empty for the default backend
	 * @return the backend
	 * @throws LockConfigurationException if there is no backend with that name
	 */
	public LockBackend get(@Nullable String name) {
		if (name == null || name.isEmpty()) {
			return this.defaultBackend;
		}
		LockBackend backend = find(name);
		if (backend == null) {
			throw unknown("There is no lock backend '%s'", name);
		}
		return backend;
	}

	/** Finds a backend by name, ignoring case and surrounding whitespace. */
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
				(what + "; configured: %s. %sUse one of these, or configure another store.").formatted(name,
						this.backends.keySet(), (nearest != null) ? "Did you mean '%s'? ".formatted(nearest) : ""));
	}

	/**
	 * Checks that a backend supports the requested options. It is in use from now on.
	 * @param name the backend's name; {@code null} or empty for the default backend
	 * @param mode the requested mode
	 * @param fair whether strict order is requested
	 * @param leaseTime the requested lease, or {@code null} for the default
	 * @param user describes the requester in messages
	 * @throws LockConfigurationException if the backend does not exist or does not
	 * support an option
	 */
	public void requireSupport(@Nullable String name, LockMode mode, boolean fair, @Nullable Duration leaseTime,
			Supplier<String> user) {
		if (StringUtils.hasLength(name) && find(name) == null) {
			throw unknown(user.get() + " names the lock backend '%s', which does not exist", name);
		}
		LockBackend backend = get(name);
		if (StringUtils.hasLength(name) && !this.requested.contains(backend.name())) {
			this.requested.add(backend.name());
		}
		BackendCapabilities able = backend.capabilities();
		if (mode == LockMode.SHARED && !able.has(Capability.SHARED)) {
			throw new LockConfigurationException(
					"%s asks for mode = SHARED, which the lock backend '%s' does not support. Use EXCLUSIVE, or another backend."
						.formatted(user.get(), backend.name()));
		}
		if (fair && !able.has(Capability.FAIR)) {
			throw new LockConfigurationException(
					"%s asks for fair = true, but the lock backend '%s' keeps no order of arrival. Remove it, or use local, redis, zookeeper or etcd."
						.formatted(user.get(), backend.name()));
		}
		if (leaseTime != null && leaseTime.compareTo(able.shortestLease()) < 0) {
			throw new LockConfigurationException(
					"%s asks for a lease of %s, but the lock backend '%s' keeps none shorter than %s. Set a longer lease."
						.formatted(user.get(), DurationText.of(leaseTime), backend.name(),
								DurationText.of(able.shortestLease())));
		}
	}

	/**
	 * Checks that the default backend supports sticky leases. Any other backend releases
	 * its leases as usual if it does not support them.
	 * @param user describes the requester in messages
	 * @throws LockConfigurationException if it does not support them
	 */
	public void requireDemand(String user) {
		if (!this.defaultBackend.capabilities().has(Capability.DEMAND)) {
			throw new LockConfigurationException(
					"%s asks for sticky leases, which the lock backend '%s' does not support: other instances could not demand an idle lease. Remove it, or use another backend; 'jdbc' supports it on PostgreSQL with 'distributed-lock.jdbc.mode=rows', 'distributed-lock.jdbc.listen=true' and a connection pool of three or more."
						.formatted(user, this.defaultBackend.name()));
		}
	}

	/**
	 * Returns the backends in use: the default one, and all others that an annotation or
	 * a request has named so far. A backend that is only configured is not in use.
	 * @return the names, the default one first
	 */
	public Set<String> inUse() {
		Set<String> names = new LinkedHashSet<>();
		names.add(defaultName());
		this.requested.stream().sorted().forEach(names::add);
		return names;
	}

	/**
	 * Returns the name of the default backend.
	 * @return the name
	 */
	public String defaultName() {
		return this.defaultBackend.name();
	}

}
