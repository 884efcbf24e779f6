package io.holdfast.verification.micro;

import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

/**
 * The least that a lock by key costs in a JVM: one lock for each key that is in use, with
 * the number of its users.
 *
 * @param <K> the type of the keys
 */
final class KeyedLock<K> {

	private final ConcurrentMap<K, Entry> entries = new ConcurrentHashMap<>();

	void lock(K key) {
		this.entries.compute(key, (absent, present) -> Entry.entered(present)).lock();
	}

	void unlock(K key) {
		Objects.requireNonNull(this.entries.get(key)).unlock();
		this.entries.computeIfPresent(key, (present, entry) -> entry.left());
	}

	/** Guarded by the map's atomic operations on its key, apart from the lock. */
	private static final class Entry extends ReentrantLock {

		private static final long serialVersionUID = 1L;

		private int users;

		static Entry entered(@Nullable Entry present) {
			Entry entry = (present != null) ? present : new Entry();
			entry.users++;
			return entry;
		}

		@Nullable Entry left() {
			return (--this.users > 0) ? this : null;
		}

	}

}
