package io.holdfast.lock.spi;

import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;

/**
 * The capabilities of a backend. An annotation that requires a missing capability
 * prevents application startup. A request in code that requires one is rejected when it
 * is made.
 *
 * @param shortestLease the shortest lease that the store keeps reliably
 * @param all the capabilities
 */
public record BackendCapabilities(Duration shortestLease, Set<Capability> all) {

	/**
	 * Copies the set.
	 */
	public BackendCapabilities {
		EnumSet<Capability> copy = EnumSet.noneOf(Capability.class);
		copy.addAll(all);
		all = Collections.unmodifiableSet(copy);
	}

	/**
	 * Creates the capabilities of a backend.
	 * @param shortestLease the shortest lease that the store keeps reliably
	 * @param all the capabilities
	 */
	public BackendCapabilities(Duration shortestLease, Capability... all) {
		this(shortestLease, Set.copyOf(Arrays.asList(all)));
	}

	/**
	 * Whether the backend has a capability.
	 * @param capability the capability
	 * @return whether the backend has it
	 */
	public boolean has(Capability capability) {
		return this.all.contains(capability);
	}

}
