package io.holdfast.lock.fencing;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.holdfast.lock.LockHandle;

/**
 * The guard of a resource that exists only in this JVM, or that only this JVM writes.
 *
 * <p>
 * It remembers every lock that it has seen, so use one guard for one resource with few
 * locks. Thread-safe. Between {@link #advance} and the write, another holder may pass.
 * Therefore, the same thread must write the guarded resource under a monitor of its own,
 * or the resource must compare the token itself.
 */
public final class InMemoryFencingGuard implements FencingGuard {

	private final Map<String, RecordedHolder> fences = new TreeMap<>();

	@Override
	public synchronized void advance(LockHandle hold) {
		List<FenceEntry> entries = hold.parts()
			.stream()
			.map((part) -> FenceEntry.of(part.backend() + "/" + part.lock().id(), part))
			.toList();
		for (FenceEntry entry : entries) {
			RecordedHolder seen = this.fences.get(entry.id());
			if (seen != null && !entry.passes(seen.token(), seen.owner())) {
				throw entry.refused(seen.token());
			}
		}
		entries.stream()
			.filter((entry) -> !entry.shared())
			.forEach((entry) -> this.fences.put(entry.id(),
					new RecordedHolder(entry.id(), entry.token(), entry.owner())));
	}

}
