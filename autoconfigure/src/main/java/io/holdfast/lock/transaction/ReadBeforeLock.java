package io.holdfast.lock.transaction;

import java.util.Map;

import org.hibernate.engine.spi.EntityEntry;
import org.hibernate.engine.spi.EntityEntryExtraState;
import org.hibernate.engine.spi.SessionImplementor;
import org.hibernate.engine.spi.Status;
import org.hibernate.persister.entity.EntityPersister;
import org.jspecify.annotations.Nullable;

/**
 * What is remembered with the entry of an entity in its persistence context: whether the
 * values that Hibernate compares it with were read from the database before a lock. The
 * array of these values stands for them, because Hibernate makes another one when it
 * reads or writes the entity again.
 */
final class ReadBeforeLock implements EntityEntryExtraState {

	private Object @Nullable [] written;

	private Object @Nullable [] read;

	private String locks = "";

	private @Nullable EntityEntryExtraState next;

	/** Notes that this context has written the present values. */
	static void noteWritten(EntityEntry entry) {
		of(entry).written = entry.getLoadedState();
	}

	/**
	 * Notes what a session has read, but for entities with a version: Hibernate compares
	 * that when it writes them. What the session has written itself is not noted, because
	 * the database may have rounded it.
	 * @param session the session
	 * @param locks the locks that are about to be acquired, as a text
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
		if (values != this.written && values != this.read) {
			this.read = values;
			this.locks = locks;
		}
	}

	/** The present values are about to be replaced. */
	static void forget(@Nullable EntityEntry entry) {
		ReadBeforeLock note = (entry != null) ? entry.getExtraState(ReadBeforeLock.class) : null;
		if (note != null) {
			note.read = null;
		}
	}

	/**
	 * The locks before which the present values of an entity were read.
	 * @return their names, or {@code null} if they were not
	 */
	static @Nullable String locks(@Nullable EntityEntry entry) {
		ReadBeforeLock note = (entry != null) ? entry.getExtraState(ReadBeforeLock.class) : null;
		return (entry != null && note != null && note.read != null && note.read == entry.getLoadedState()) ? note.locks
				: null;
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
	@SuppressWarnings("NullAway") // Hibernate's own give null, too
	public <T extends EntityEntryExtraState> T getExtraState(Class<T> type) {
		if (this.next == null) {
			return null;
		}
		return type.isInstance(this.next) ? type.cast(this.next) : this.next.getExtraState(type);
	}

}
