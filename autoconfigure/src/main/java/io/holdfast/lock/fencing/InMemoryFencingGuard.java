package io.holdfast.lock.fencing;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.holdfast.lock.LockHandle;

/**
 * The guard of something that lives in this JVM, or that this JVM alone writes to.
 *
 * <p>
 * It remembers every lock that it has seen, so one guard is for one resource of few
 * locks. Thread-safe. What it guards must be written by the same thread under a monitor
 * of its own, or compare the token itself: between {@link #advance} and the write another
 * holder may pass.
 */
public final class InMemoryFencingGuard implements FencingGuard {

	private final Map<String, Seen> fences = new TreeMap<>();

	@Override
	public synchronized void advance(LockHandle hold) {
		List<FenceEntry> entries = hold.parts()
			.stream()
			.map((part) -> FenceEntry.of(part.backend() + "/" + part.name(), part))
			.toList();
		for (FenceEntry entry : entries) {
			Seen seen = this.fences.get(entry.id());
			if (seen != null && !entry.passes(seen.token(), seen.owner())) {
				throw entry.refused(seen.token());
			}
		}
		entries.stream()
			.filter((entry) -> !entry.shared())
			.forEach((entry) -> this.fences.put(entry.id(), new Seen(entry.id(), entry.token(), entry.owner())));
	}

}
