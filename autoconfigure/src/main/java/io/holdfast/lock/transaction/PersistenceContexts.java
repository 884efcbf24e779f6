package io.holdfast.lock.transaction;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;

import jakarta.persistence.CacheRetrieveMode;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.orm.jpa.EntityManagerFactoryInfo;
import org.springframework.orm.jpa.EntityManagerFactoryUtils;
import org.springframework.orm.jpa.EntityManagerHolder;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.TransactionBoundary.SetAside;

/**
 * The JPA persistence contexts that are bound to the current thread. A context never
 * reads an entity again that it has read before, at any isolation level, so it returns
 * the state from before the lock. Requires spring-orm.
 */
final class PersistenceContexts {

	private static final boolean HIBERNATE_PRESENT = ClassUtils.isPresent("org.hibernate.engine.spi.SessionImplementor",
			PersistenceContexts.class.getClassLoader());

	private PersistenceContexts() {
	}

	/**
	 * Returns the entities that the contexts of the current transaction have read.
	 * @return the entities as text, or {@code null} if there are none
	 */
	static @Nullable String entities() {
		for (Object resource : TransactionSynchronizationManager.getResourceMap().values()) {
			EntityManager context = contextOf(resource);
			String entities = (context != null) ? entities(context) : null;
			if (entities != null) {
				return entities;
			}
		}
		return null;
	}

	private static @Nullable String entities(EntityManager context) {
		HibernateContext hibernate = hibernate(context);
		return (hibernate != null) ? hibernate.entities() : "contents that this JPA provider does not expose";
	}

	private static @Nullable HibernateContext hibernate(EntityManager context) {
		return HIBERNATE_PRESENT ? HibernateContext.of(context) : null;
	}

	/**
	 * Makes the contexts of this thread bypass second-level and query caches, which may
	 * contain data from before the lock. Caches of other instances are not notified of
	 * the commits of this instance.
	 */
	static void readPastCaches() {
		TransactionSynchronizationManager.getResourceMap().values().forEach((resource) -> {
			EntityManager context = contextOf(resource);
			if (context != null) {
				context.setCacheRetrieveMode(CacheRetrieveMode.BYPASS);
				// Hibernate's find() uses the property instead
				context.setProperty("jakarta.persistence.cache.retrieveMode", CacheRetrieveMode.BYPASS);
			}
		});
	}

	/**
	 * Returns {@code null} for any other resource, and for a holder without a context,
	 * such as that of a stateless session.
	 */
	static @Nullable EntityManager contextOf(Object resource) {
		try {
			return (resource instanceof EntityManagerHolder holder) ? holder.getEntityManager() : null;
		}
		catch (IllegalStateException ex) {
			return null;
		}
	}

	/**
	 * Makes the locked call read fresh data, and later writes of the other contexts of
	 * this thread safe. Outside a transaction, replaces each context that has read
	 * something with an empty one. The replaced contexts remain usable and need no
	 * connection meanwhile.
	 * @param locks the locks to acquire
	 * @return the contexts
	 */
	static SetAside setAside(List<LockName> locks) {
		List<ContextChange> changes = new ArrayList<>();
		if (HIBERNATE_PRESENT) {
			LaterWrites.ofOtherTransactions(() -> text(locks)).forEach(changes::add);
		}
		Map<Object, Object> resources = TransactionSynchronizationManager.getResourceMap();
		if (!resources.isEmpty()) {
			boolean inTransaction = TransactionSynchronizationManager.isActualTransactionActive();
			Map.copyOf(resources).forEach((key, resource) -> {
				if (key instanceof EntityManagerFactory factory && resource instanceof EntityManagerHolder holder) {
					setAside(factory, holder, inTransaction, locks, changes);
				}
			});
			if (!inTransaction) {
				readPastCaches();
			}
		}
		return changes.isEmpty() ? SetAside.NOTHING : new Changes(changes);
	}

	private static void setAside(EntityManagerFactory factory, EntityManagerHolder holder, boolean inTransaction,
			List<LockName> locks, List<ContextChange> changes) {
		EntityManager context = contextOf(holder);
		if (context == null) {
			return;
		}
		HibernateContext hibernate = hibernate(context);
		boolean empty = entities(context) == null;
		// a transaction writes the caller's changes with its context, and unbinds it
		if (!empty && !inTransaction && !holder.isSynchronizedWithTransaction()) {
			changes.add(Exchange.make(factory, holder, text(locks)));
		}
		else if (empty && hibernate != null) {
			// without auto-commit, the connection may have a snapshot from before the
			// lock
			hibernate.disconnect();
			changes.add(LaterWrites.ofOpen(hibernate, text(locks)));
		}
	}

	private static String text(List<LockName> locks) {
		return locks.stream()
			.map((lock) -> "'" + lock + "'")
			.collect(Collectors.joining(", ", (locks.size() > 1) ? "Locks " : "Lock ", ""));
	}

	/**
	 * The contexts that were changed for one request.
	 *
	 * @param all the changes
	 */
	private record Changes(List<ContextChange> all) implements SetAside {

		@Override
		public void requireUnchanged(LockName lock) {
			SortedSet<String> changes = new TreeSet<>();
			this.all.forEach((change) -> changes.addAll(change.unwritten()));
			if (!changes.isEmpty()) {
				throw new LockConfigurationException(
						"Lock '%s': the locked call changed %s, which was read before the lock. It belongs to a persistence context that was set aside for this call, so the change is not written under the lock.%s Load it by its id inside the locked method, and change that instance."
							.formatted(lock, String.join(", ", changes),
									TransactionSynchronizationManager.isActualTransactionActive()
											? " The commit was refused and the transaction is rolled back." : ""));
			}
		}

		@Override
		public void restore() {
			this.all.forEach(ContextChange::undo);
		}

	}

	/**
	 * One context that is set aside until it is bound again.
	 */
	private static final class Exchange implements ContextChange {

		private final EntityManagerFactory factory;

		private final EntityManagerHolder before;

		private final @Nullable EntityManagerHolder instead;

		private final Thread thread = Thread.currentThread();

		/** {@code null} for a provider that does not expose changes. */
		private @Nullable HibernateSnapshot snapshot;

		private volatile boolean undone;

		private Exchange(EntityManagerFactory factory, EntityManagerHolder before) {
			this.factory = factory;
			this.before = before;
			// Hibernate's own transaction manager binds a new context itself
			this.instead = (before.getClass() == EntityManagerHolder.class) ? new EntityManagerHolder(create(factory))
					: null;
		}

		private static EntityManager create(EntityManagerFactory factory) {
			return (factory instanceof EntityManagerFactoryInfo info) ? info.createNativeEntityManager(Map.of())
					: factory.createEntityManager();
		}

		static Exchange make(EntityManagerFactory factory, EntityManagerHolder before, String locks) {
			Exchange exchange = new Exchange(factory, before);
			HibernateContext hibernate = hibernate(before.getEntityManager());
			if (hibernate != null) {
				exchange.snapshot = new HibernateSnapshot(hibernate.session());
				HibernateContext next = (exchange.instead != null) ? hibernate(exchange.instead.getEntityManager())
						: null;
				if (next != null) {
					next.filterAs(hibernate);
					exchange.closeBoth(next, hibernate);
				}
				ReadBeforeLock.noteAll(hibernate.session(), locks);
				SetAsideSessions.add(hibernate.session(), locks);
				hibernate.disconnect();
			}
			TransactionSynchronizationManager.unbindResource(factory);
			if (exchange.instead != null) {
				TransactionSynchronizationManager.bindResource(factory, exchange.instead);
			}
			return exchange;
		}

		/**
		 * Closes the set-aside context with the new one, because at its end the request
		 * closes only the context that is bound then.
		 */
		private void closeBoth(HibernateContext bound, HibernateContext other) {
			bound.whenClosed(() -> {
				if (!this.undone) {
					EntityManagerFactoryUtils.closeEntityManager(other.session());
				}
			});
		}

		@Override
		public SortedSet<String> unwritten() {
			return (this.snapshot != null && Thread.currentThread() == this.thread) ? this.snapshot.changes()
					: Collections.emptySortedSet();
		}

		/**
		 * Binds the original context again. The new context stays bound if the hold has
		 * ended on another thread, or in a transaction that uses it.
		 */
		@Override
		public void undo() {
			if (Thread.currentThread() != this.thread || TransactionSynchronizationManager.isActualTransactionActive()
					|| TransactionSynchronizationManager.getResource(this.factory) != this.instead) {
				return;
			}
			this.undone = true;
			HibernateContext hibernate = hibernate(this.before.getEntityManager());
			if (hibernate != null) {
				SetAsideSessions.remove(hibernate.session());
			}
			if (this.instead != null) {
				TransactionSynchronizationManager.unbindResource(this.factory);
				EntityManagerFactoryUtils.closeEntityManager(this.instead.getEntityManager());
			}
			TransactionSynchronizationManager.bindResource(this.factory, this.before);
		}

	}

}
