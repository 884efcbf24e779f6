package io.holdfast.lock.support;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;

/**
 * A map in several stripes, each with its own lock. A caller locks the stripe of a key,
 * reads and changes the entry as one step, and unlocks the stripe. Compared with the
 * atomic functions of a concurrent map, such a step needs no function object, and a
 * virtual thread that waits for it does not pin its carrier.
 *
 * @param <K> the type of the keys
 * @param <V> the type of the values
 */
public final class StripedMap<K, V> {

	private static final int STRIPES = 64;

	private final List<Stripe<K, V>> stripes;

	/** Creates an empty map with enough stripes for many threads. */
	public StripedMap() {
		this(STRIPES);
	}

	/**
	 * Creates an empty map.
	 * @param stripes the number of stripes, a power of two
	 */
	public StripedMap(int stripes) {
		this.stripes = IntStream.range(0, stripes).mapToObj((i) -> new Stripe<K, V>()).toList();
	}

	/**
	 * Returns the stripe of a key.
	 * @param key the key
	 * @return the stripe, not locked
	 */
	public Stripe<K, V> of(K key) {
		int hash = key.hashCode();
		hash ^= hash >>> 16;
		return this.stripes.get((hash ^ hash >>> 8) & (this.stripes.size() - 1));
	}

	/**
	 * Returns the keys of all entries. Entries that are added or removed meanwhile may be
	 * missing or included.
	 * @return a copy, in no particular order
	 */
	public List<K> keys() {
		List<K> keys = new ArrayList<>();
		for (Stripe<K, V> stripe : this.stripes) {
			stripe.lock();
			try {
				keys.addAll(stripe.entries.keySet());
			}
			finally {
				stripe.unlock();
			}
		}
		return keys;
	}

	/**
	 * A part of the map. All operations except {@link #lock()} require that the calling
	 * thread has locked it.
	 *
	 * @param <K> the type of the keys
	 * @param <V> the type of the values
	 */
	public static final class Stripe<K, V> {

		private final ReentrantLock lock = new ReentrantLock();

		private final Map<K, V> entries = new HashMap<>();

		private Stripe() {
		}

		/** Locks the stripe. */
		public void lock() {
			this.lock.lock();
		}

		/** Unlocks the stripe. */
		public void unlock() {
			this.lock.unlock();
		}

		/**
		 * Returns the value of a key.
		 * @param key the key
		 * @return the value, or {@code null} if there is none
		 */
		public @Nullable V get(K key) {
			return this.entries.get(key);
		}

		/**
		 * Sets the value of a key.
		 * @param key the key
		 * @param value the value
		 */
		public void put(K key, V value) {
			this.entries.put(key, value);
		}

		/**
		 * Removes the entry of a key, if there is one.
		 * @param key the key
		 */
		public void remove(K key) {
			this.entries.remove(key);
		}

	}

}
