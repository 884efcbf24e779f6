package io.holdfast.lock.engine;

import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * A list that a test may read while other threads add to it. An iterator is over a copy.
 * A {@link java.util.concurrent.CopyOnWriteArrayList} would copy itself at each addition,
 * and some tests make a hundred thousand calls.
 *
 * @param <E> what is recorded
 */
final class Recording<E> extends AbstractList<E> {

	private final List<E> elements = new ArrayList<>();

	@Override
	public synchronized E get(int index) {
		return this.elements.get(index);
	}

	@Override
	public synchronized int size() {
		return this.elements.size();
	}

	@Override
	public synchronized boolean add(E element) {
		return this.elements.add(element);
	}

	@Override
	public synchronized void clear() {
		this.elements.clear();
	}

	@Override
	public synchronized Iterator<E> iterator() {
		return new ArrayList<>(this.elements).iterator();
	}

}
