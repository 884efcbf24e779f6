package io.holdfast.lock.transaction;

import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

import org.hibernate.Hibernate;
import org.hibernate.TransientObjectException;
import org.hibernate.bytecode.enhance.spi.LazyPropertyInitializer;
import org.hibernate.collection.spi.PersistentCollection;
import org.hibernate.engine.spi.CollectionEntry;
import org.hibernate.engine.spi.EntityEntry;
import org.hibernate.engine.spi.PersistenceContext;
import org.hibernate.engine.spi.SessionImplementor;
import org.hibernate.engine.spi.Status;
import org.hibernate.persister.collection.CollectionPersister;
import org.hibernate.persister.entity.EntityPersister;
import org.hibernate.type.Type;
import org.hibernate.type.TypeHelper;
import org.jspecify.annotations.Nullable;

/**
 * A snapshot of the values of the entities in a persistence context, used to find later
 * changes. Hibernate's own copies do not suffice: they are older than changes that were
 * made before the snapshot, and entities loaded as read-only have none. The snapshot
 * flushes nothing and initializes no collection or reference.
 */
final class HibernateSnapshot {

	private final SessionImplementor session;

	private final Map<Object, Object[]> values = new IdentityHashMap<>();

	private final Set<PersistentCollection<?>> changedBefore = Collections.newSetFromMap(new IdentityHashMap<>());

	HibernateSnapshot(SessionImplementor session) {
		this.session = session;
		for (Map.Entry<Object, EntityEntry> entity : context().reentrantSafeEntityEntries()) {
			if (isComparable(entity.getKey(), entity.getValue())) {
				this.values.put(entity.getKey(), copy(entity.getKey(), entity.getValue().getPersister()));
			}
		}
		context().forEachCollectionEntry((collection, entry) -> {
			if (isChanged(collection, entry)) {
				this.changedBefore.add(collection);
			}
		}, true);
	}

	private PersistenceContext context() {
		return this.session.getPersistenceContextInternal();
	}

	private static boolean isComparable(Object entity, EntityEntry entry) {
		return (entry.getStatus() == Status.MANAGED || entry.getStatus() == Status.READ_ONLY)
				&& entry.getPersister().isMutable() && Hibernate.isInitialized(entity);
	}

	private Object[] copy(Object entity, EntityPersister persister) {
		Object[] now = persister.getValues(entity);
		Object[] copy = new Object[now.length];
		Type[] types = persister.getPropertyTypes();
		boolean[] all = new boolean[now.length];
		Arrays.fill(all, true);
		TypeHelper.deepCopy(now, types, all, copy, this.session);
		return copy;
	}

	/**
	 * Returns the changes since the snapshot.
	 * @return entity types with their attributes, and collections, by name; empty if
	 * nothing was changed
	 */
	SortedSet<String> changes() {
		SortedSet<String> changes = new TreeSet<>();
		for (Map.Entry<Object, EntityEntry> entity : context().reentrantSafeEntityEntries()) {
			String changed = isComparable(entity.getKey(), entity.getValue())
					? change(entity.getKey(), entity.getValue()) : null;
			if (changed != null) {
				changes.add(changed);
			}
		}
		context().forEachCollectionEntry((collection, entry) -> {
			if (!this.changedBefore.contains(collection) && isChanged(collection, entry)) {
				changes.add(String.valueOf(collection.getRole()));
			}
		}, true);
		return changes;
	}

	private @Nullable String change(Object entity, EntityEntry entry) {
		// an entity loaded since the snapshot was loaded through an earlier reference
		Object[] before = this.values.getOrDefault(entity, entry.getLoadedState());
		if (before == null) {
			return null;
		}
		EntityPersister persister = entry.getPersister();
		Object[] now = persister.getValues(entity);
		Object[] known = before.clone();
		for (int i = 0; i < known.length; i++) {
			known[i] = (known[i] != LazyPropertyInitializer.UNFETCHED_PROPERTY) ? known[i] : now[i];
		}
		try {
			int[] different = AttributeComparison.different(persister, now, known, entity, this.session);
			return (different.length > 0) ? persister.getEntityName() + " (" + names(persister, different) + ")" : null;
		}
		catch (TransientObjectException ex) {
			// the entity now references a transient one
			return persister.getEntityName();
		}
	}

	private static String names(EntityPersister persister, int[] attributes) {
		return String.join(", ",
				Arrays.stream(attributes).mapToObj((attribute) -> persister.getPropertyNames()[attribute]).toList());
	}

	/** Decides as Hibernate does when it flushes, but marks nothing. */
	private static boolean isChanged(PersistentCollection<?> collection, CollectionEntry entry) {
		if (collection.isDirty() || collection.hasQueuedOperations()) {
			return true;
		}
		CollectionPersister persister = entry.getLoadedPersister();
		return persister != null && persister.isMutable() && collection.wasInitialized()
				&& !collection.equalsSnapshot(persister);
	}

}
