package io.holdfast.lock.transaction;

import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

import org.hibernate.CacheMode;
import org.hibernate.FlushMode;
import org.hibernate.LockMode;
import org.hibernate.Locking;
import org.hibernate.Session;
import org.hibernate.bytecode.enhance.spi.LazyPropertyInitializer;
import org.hibernate.dialect.PostgreSQLDialect;
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
import org.hibernate.persister.entity.UnionSubclassEntityPersister;
import org.hibernate.type.BasicType;
import org.hibernate.type.CollectionType;
import org.hibernate.type.ComponentType;
import org.hibernate.type.Type;
import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockConfigurationException;

/**
 * Rejects the update of an entity that was read or written before a lock if its row has
 * changed since then. An UPDATE writes all columns, so it would restore the old values.
 */
final class OverwriteListener
		implements PreUpdateEventListener, PostInsertEventListener, PostUpdateEventListener, MergeEventListener {

	@Override
	public boolean onPreUpdate(PreUpdateEvent event) {
		EntityEntry entry = entry(event.getSession(), event.getEntity());
		String locks = ReadBeforeLock.locks(entry);
		if (entry != null && locks != null) {
			requireUnchangedRow(event, entry, locks);
		}
		return false;
	}

	private static @Nullable EntityEntry entry(SharedSessionContractImplementor session, Object entity) {
		return session.getPersistenceContextInternal().getEntry(entity);
	}

	private static void requireUnchangedRow(PreUpdateEvent event, EntityEntry entry, String locks) {
		requireLockableRow(event, locks);
		// locks the row as the UPDATE will, so that no other transaction changes it in
		// between
		event.getPersister()
			.lock(event.getId(), null, event.getEntity(), LockMode.PESSIMISTIC_WRITE, event.getSession());
		Object[] row = row(event);
		String changed = (row != null) ? overwritten(event, entry, row) : "";
		if (!changed.isEmpty()) {
			throw new LockConfigurationException(
					"%s: %s was read or written before the lock was released, and its row has changed since (%s). Writing it now would restore the old values, so the transaction is rolled back. Call EntityManager.refresh on it first, in the transaction that changes it, or load it by its id in the locked method and change it there."
						.formatted(locks, SetAsideSessions.text(event.getPersister().getEntityName(), event.getId()),
								changed));
		}
	}

	/** Hibernate locks the row in a union of tables, which PostgreSQL rejects. */
	private static void requireLockableRow(PreUpdateEvent event, String locks) {
		if (event.getPersister() instanceof UnionSubclassEntityPersister
				&& event.getFactory().getJdbcServices().getDialect() instanceof PostgreSQLDialect) {
			throw new LockConfigurationException(
					"%s: %s was read or written before the lock was released, and Holdfast cannot check whether its row has changed since, because PostgreSQL locks no rows of an entity with TABLE_PER_CLASS inheritance. The transaction is rolled back. Call EntityManager.refresh on it first, in the transaction that changes it, load it by its id in the locked method and change it there, or add a @Version to its class."
						.formatted(locks, SetAsideSessions.text(event.getPersister().getEntityName(), event.getId())));
		}
	}

	/**
	 * Returns the attributes whose row values have changed since the entity was read. If
	 * the row already has the value to be written, that proves nothing: two callers may
	 * have computed it from the same old value.
	 */
	private static String overwritten(PreUpdateEvent event, EntityEntry entry, Object[] row) {
		Object[] read = entry.getLoadedState();
		Set<Integer> changed = different(event, read, row);
		Set<Integer> changedHere = different(event, event.getState(), read);
		if (event.getPersister().isDynamicUpdate()) {
			changed.retainAll(changedHere);
		}
		changed.removeIf((attribute) -> !changedHere.contains(attribute)
				&& ReadBeforeLock.isWrittenUnderLock(entry, attribute) && keep(event, row[attribute], attribute));
		return changed.stream()
			.filter((attribute) -> isComparable(event, row[attribute], attribute))
			.filter((attribute) -> !ReadBeforeLock.isWrittenHere(entry) || StoredValue
				.isOther(event.getPersister().getPropertyTypes()[attribute], read[attribute], row[attribute]))
			.map((attribute) -> event.getPersister().getPropertyNames()[attribute])
			.collect(Collectors.joining(", "));
	}

	/** Keeps the value of the row and copies it to the entity. */
	private static boolean keep(PreUpdateEvent event, Object inRow, int attribute) {
		Type type = event.getPersister().getPropertyTypes()[attribute];
		if (!isValue(type) || inRow == LazyPropertyInitializer.UNFETCHED_PROPERTY) {
			return false;
		}
		@Nullable Object[] written = event.getState();
		written[attribute] = type.deepCopy(inRow, event.getFactory());
		event.getPersister().setValue(event.getEntity(), attribute, inRow);
		return true;
	}

	/**
	 * Returns whether a type is a plain value. A reference would point to an entity of
	 * another session.
	 */
	private static boolean isValue(Type type) {
		return type instanceof BasicType || (type instanceof ComponentType component
				&& Arrays.stream(component.getSubtypes()).allMatch(OverwriteListener::isValue));
	}

	private static Set<Integer> different(PreUpdateEvent event, Object[] one, Object[] other) {
		int[] different = AttributeComparison.different(event.getPersister(), one, other, event.getEntity(),
				event.getSession());
		return Arrays.stream(different).boxed().collect(Collectors.toCollection(TreeSet::new));
	}

	/**
	 * Returns the current values in the database, read in the same transaction.
	 * Hibernate's own {@code getDatabaseSnapshot} leaves embedded attributes empty.
	 * @return {@code null} if the row no longer exists, which Hibernate detects itself
	 */
	private static Object @Nullable [] row(PreUpdateEvent event) {
		try (Session reader = ((SessionImplementor) event.getSession()).sessionWithOptions()
			.connection()
			.flushMode(FlushMode.MANUAL)
			.autoClose(false)
			.openSession()) {
			reader.setCacheMode(CacheMode.IGNORE);
			// a plain read would return the state of an older snapshot; the row is locked
			// already, and further statements to lock joined rows fail for some mappings
			Object entity = reader.find(event.getPersister().getEntityName(), event.getId(), LockMode.PESSIMISTIC_READ,
					Locking.FollowOn.IGNORE);
			return (entity != null) ? event.getPersister().getValues(entity) : null;
		}
	}

	/** Excludes values that were not fetched, or are not written with the entity. */
	private static boolean isComparable(PreUpdateEvent event, Object row, int attribute) {
		return event.getPersister().getPropertyUpdateability()[attribute]
				&& !(event.getPersister().getPropertyTypes()[attribute] instanceof CollectionType)
				&& row != LazyPropertyInitializer.UNFETCHED_PROPERTY;
	}

	/**
	 * Forgets values that come from the caller's instance, which is the caller's
	 * responsibility.
	 */
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
