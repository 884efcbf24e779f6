package io.holdfast.lock;

import java.util.AbstractMap;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

/**
 * The only lock of a request and its mode. Most requests name one lock, and a tree for it
 * would cost more than all else in the request. Immutable.
 */
final class SingleLock extends AbstractMap<LockName, LockMode> implements SortedMap<LockName, LockMode> {

	private final LockName lock;

	private final LockMode mode;

	SingleLock(LockName lock, LockMode mode) {
		this.lock = lock;
		this.mode = mode;
	}

	/** Returns a map from locks to one mode for all of them. */
	static SortedMap<LockName, LockMode> orSeveral(Collection<LockName> locks, LockMode mode) {
		if (locks.size() == 1) {
			return new SingleLock(locks.iterator().next(), mode);
		}
		SortedMap<LockName, LockMode> several = new TreeMap<>();
		locks.forEach((lock) -> several.put(lock, mode));
		return several;
	}

	/**
	 * Returns an immutable copy of locks and their modes, at least one. It is in the
	 * global order, even if the given map has a comparator of its own.
	 */
	static SortedMap<LockName, LockMode> copyOf(SortedMap<LockName, LockMode> locks) {
		if (locks instanceof SingleLock) {
			return locks;
		}
		LockName first = locks.firstKey();
		LockMode mode = (locks.size() == 1 && locks.comparator() == null) ? locks.get(first) : null;
		if (mode != null) {
			return new SingleLock(first, mode);
		}
		SortedMap<LockName, LockMode> ordered = new TreeMap<>();
		ordered.putAll(locks);
		return Collections.unmodifiableSortedMap(ordered);
	}

	@Override
	public int size() {
		return 1;
	}

	@Override
	public @Nullable LockMode get(@Nullable Object key) {
		return this.lock.equals(key) ? this.mode : null;
	}

	@Override
	public boolean containsKey(@Nullable Object key) {
		return this.lock.equals(key);
	}

	@Override
	public LockName firstKey() {
		return this.lock;
	}

	@Override
	public LockName lastKey() {
		return this.lock;
	}

	@Override
	public Set<Map.Entry<LockName, LockMode>> entrySet() {
		return Set.of(Map.entry(this.lock, this.mode));
	}

	@Override
	public @Nullable Comparator<? super LockName> comparator() {
		return null;
	}

	@Override
	public SortedMap<LockName, LockMode> subMap(LockName from, LockName to) {
		return tree().subMap(from, to);
	}

	@Override
	public SortedMap<LockName, LockMode> headMap(LockName to) {
		return tree().headMap(to);
	}

	@Override
	public SortedMap<LockName, LockMode> tailMap(LockName from) {
		return tree().tailMap(from);
	}

	private SortedMap<LockName, LockMode> tree() {
		return Collections.unmodifiableSortedMap(new TreeMap<>(this));
	}

}
