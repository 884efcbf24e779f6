package io.holdfast.lock.transaction;

import java.util.Arrays;
import java.util.BitSet;
import java.util.Map;

import org.hibernate.engine.spi.EntityEntry;
import org.hibernate.engine.spi.EntityEntryExtraState;
import org.hibernate.engine.spi.SessionImplementor;
import org.hibernate.engine.spi.Status;
import org.hibernate.persister.entity.EntityPersister;
import org.jspecify.annotations.Nullable;

/**
 * Extra state of an entity's entry in its persistence context. It records whether the
 * values with which Hibernate compares the entity were read or written before a lock. The
 * array of these values identifies them, because Hibernate creates another one when it
 * reads or writes the entity again.
 */
final class ReadBeforeLock implements EntityEntryExtraState {

	private Object @Nullable [] written;

	private Object @Nullable [] read;

	private String locks = "";

	/**
	 * Attributes that locked calls of the same thread have written since the entity was
	 * read.
	 */
	private @Nullable BitSet writtenUnderLock;

	private @Nullable EntityEntryExtraState next;

	/** Records that this context has written the current values. */
	static void noteWritten(EntityEntry entry) {
		of(entry).written = entry.getLoadedState();
	}

	/**
	 * Records the values that a session has read or written. Excludes entities with a
	 * version, which Hibernate compares when it writes them.
	 * @param session the session
	 * @param locks the locks to acquire, as text
	 */
	static void noteAll(SessionImplementor session, String locks) {
		for (Map.Entry<Object, EntityEntry> entity : session.getPersistenceContextInternal()
			.reentrantSafeEntityEntries()) {
			EntityEntry entry = entity.getValue();
			if (entry.getStatus() == Status.MANAGED && entry.getLoadedState() != null
					&& isUnversioned(entry.getPersister())) {
				of(entry).note(entry.getLoadedState(), locks);
			}
		}
	}

	private static boolean isUnversioned(EntityPersister persister) {
		return persister.isMutable() && !persister.isVersioned() && !persister.optimisticLockStyle().isAllOrDirty();
	}

	private static ReadBeforeLock of(EntityEntry entry) {
		ReadBeforeLock note = entry.getExtraState(ReadBeforeLock.class);
		if (note == null) {
			note = new ReadBeforeLock();
			entry.addExtraState(note);
		}
		return note;
	}

	private void note(Object[] values, String locks) {
		if (values != this.read) {
			this.read = values;
			this.locks = locks;
			this.writtenUnderLock = null;
		}
	}

	/** Discards the record, because the current values are about to be replaced. */
	static void forget(@Nullable EntityEntry entry) {
		ReadBeforeLock note = (entry != null) ? entry.getExtraState(ReadBeforeLock.class) : null;
		if (note != null) {
			note.read = null;
		}
	}

	/**
	 * Returns the locks before which the current values of an entity were read.
	 * @return their names, or {@code null} if the values were not read before a lock
	 */
	static @Nullable String locks(@Nullable EntityEntry entry) {
		ReadBeforeLock note = (entry != null) ? entry.getExtraState(ReadBeforeLock.class) : null;
		return (entry != null && note != null && note.read != null && note.read == entry.getLoadedState()) ? note.locks
				: null;
	}

	/**
	 * Returns whether the current values were written by this context, and never read.
	 */
	static boolean isWrittenHere(EntityEntry entry) {
		ReadBeforeLock note = entry.getExtraState(ReadBeforeLock.class);
		return note != null && note.written == entry.getLoadedState();
	}

	/** Records which attributes a locked call has written to the entity's row. */
	static void noteWrittenUnderLock(@Nullable EntityEntry entry, int[] attributes) {
		ReadBeforeLock note = (entry != null) ? entry.getExtraState(ReadBeforeLock.class) : null;
		if (note != null) {
			BitSet all = (note.writtenUnderLock != null) ? note.writtenUnderLock : new BitSet();
			Arrays.stream(attributes).forEach(all::set);
			note.writtenUnderLock = all;
		}
	}

	/**
	 * Returns whether a locked call has written an attribute since the entity was read.
	 */
	static boolean isWrittenUnderLock(EntityEntry entry, int attribute) {
		ReadBeforeLock note = entry.getExtraState(ReadBeforeLock.class);
		return note != null && note.writtenUnderLock != null && note.writtenUnderLock.get(attribute);
	}

	@Override
	public void addExtraState(EntityEntryExtraState extraState) {
		if (this.next != null) {
			this.next.addExtraState(extraState);
		}
		else {
			this.next = extraState;
		}
	}

	@Override
	@SuppressWarnings("NullAway") // Hibernate's own implementations return null, too
	public <T extends EntityEntryExtraState> T getExtraState(Class<T> type) {
		if (this.next == null) {
			return null;
		}
		return type.isInstance(this.next) ? type.cast(this.next) : this.next.getExtraState(type);
	}

}
