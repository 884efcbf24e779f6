package io.holdfast.lock.transaction;

import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

import org.hibernate.CacheMode;
import org.hibernate.FlushMode;
import org.hibernate.Session;
import org.hibernate.bytecode.enhance.spi.LazyPropertyInitializer;
import org.hibernate.engine.spi.EntityEntry;
import org.hibernate.engine.spi.SessionImplementor;
import org.hibernate.engine.spi.SharedSessionContractImplementor;
import org.hibernate.event.spi.MergeContext;
import org.hibernate.event.spi.MergeEvent;
import org.hibernate.event.spi.MergeEventListener;
import org.hibernate.event.spi.PostInsertEvent;
import org.hibernate.event.spi.PostInsertEventListener;
import org.hibernate.event.spi.PostUpdateEvent;
import org.hibernate.event.spi.PostUpdateEventListener;
import org.hibernate.event.spi.PreUpdateEvent;
import org.hibernate.event.spi.PreUpdateEventListener;
import org.hibernate.type.CollectionType;
import org.hibernate.type.Type;
import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockConfigurationException;

/**
 * Refuses to write an entity that was read before a lock if its row has changed since: an
 * UPDATE writes all columns, so it would bring back the old values.
 */
final class OverwriteListener
		implements PreUpdateEventListener, PostInsertEventListener, PostUpdateEventListener, MergeEventListener {

	@Override
	public boolean onPreUpdate(PreUpdateEvent event) {
		EntityEntry entry = entry(event.getSession(), event.getEntity());
		String locks = ReadBeforeLock.locks(entry);
		if (entry != null && locks != null) {
			requireUnchangedRow(event, entry.getLoadedState(), locks);
		}
		return false;
	}

	private static @Nullable EntityEntry entry(SharedSessionContractImplementor session, Object entity) {
		return session.getPersistenceContextInternal().getEntry(entity);
	}

	private static void requireUnchangedRow(PreUpdateEvent event, Object[] read, String locks) {
		Object[] row = row(event);
		String changed = (row != null) ? overwritten(event, read, row) : "";
		if (!changed.isEmpty()) {
			throw new LockConfigurationException(
					"%s: %s was read before the lock, and its row has been changed since (%s). Writing it now would bring back the old values, so the transaction is rolled back. Call EntityManager.refresh on it first, in the transaction that changes it, or load it by its id in the locked method and change it there."
						.formatted(locks, SetAsideSessions.text(event.getPersister().getEntityName(), event.getId()),
								changed));
		}
	}

	/**
	 * What has been changed since it was read. That the same value is written now proves
	 * nothing: two may have computed it from the same old one.
	 */
	private static String overwritten(PreUpdateEvent event, Object[] read, Object[] row) {
		Set<Integer> changed = different(event, read, row);
		if (event.getPersister().isDynamicUpdate()) {
			changed.retainAll(different(event, event.getState(), read));
		}
		return changed.stream()
			.filter((attribute) -> isComparable(event, read[attribute], row[attribute], attribute))
			.map((attribute) -> event.getPersister().getPropertyNames()[attribute])
			.collect(Collectors.joining(", "));
	}

	private static Set<Integer> different(PreUpdateEvent event, Object[] one, Object[] other) {
		int[] different = event.getPersister().findDirty(one, other, event.getEntity(), event.getSession());
		Set<Integer> attributes = new TreeSet<>();
		if (different != null) {
			Arrays.stream(different).forEach(attributes::add);
		}
		return attributes;
	}

	/**
	 * The present values in the database, read in the same transaction. Hibernate's own
	 * {@code getDatabaseSnapshot} leaves embedded attributes empty.
	 * @return {@code null} if the row is gone, which Hibernate finds itself
	 */
	private static Object @Nullable [] row(PreUpdateEvent event) {
		try (Session reader = ((SessionImplementor) event.getSession()).sessionWithOptions()
			.connection()
			.flushMode(FlushMode.MANUAL)
			.autoClose(false)
			.openSession()) {
			reader.setCacheMode(CacheMode.IGNORE);
			Object entity = reader.find(event.getPersister().getEntityName(), event.getId());
			return (entity != null) ? event.getPersister().getValues(entity) : null;
		}
	}

	/** A value is not if it was not fetched, or does not even equal its own copy. */
	private static boolean isComparable(PreUpdateEvent event, Object read, Object row, int attribute) {
		Type type = event.getPersister().getPropertyTypes()[attribute];
		return event.getPersister().getPropertyUpdateability()[attribute] && !(type instanceof CollectionType)
				&& row != LazyPropertyInitializer.UNFETCHED_PROPERTY
				&& !type.isDirty(read, type.deepCopy(read, event.getFactory()), event.getSession());
	}

	/** Values that come from an instance of the caller's are the caller's affair. */
	@Override
	public void onMerge(MergeEvent event) {
		if (event.getResult() != null && event.getResult() != event.getEntity()) {
			ReadBeforeLock.forget(entry(event.getSession(), event.getResult()));
		}
	}

	@Override
	public void onMerge(MergeEvent event, MergeContext copied) {
		onMerge(event);
	}

	@Override
	public void onPostInsert(PostInsertEvent event) {
		noteWritten(entry(event.getSession(), event.getEntity()));
	}

	@Override
	public void onPostUpdate(PostUpdateEvent event) {
		noteWritten(entry(event.getSession(), event.getEntity()));
	}

	private static void noteWritten(@Nullable EntityEntry entry) {
		if (entry != null) {
			ReadBeforeLock.noteWritten(entry);
		}
	}

}
