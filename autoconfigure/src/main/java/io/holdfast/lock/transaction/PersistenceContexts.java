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
 * The persistence contexts of JPA that are bound to the current thread. An entity that
 * one of them has read before is never read again, at no isolation, so it answers from
 * before the lock. Needs spring-orm.
 */
final class PersistenceContexts {

	private static final boolean HIBERNATE_PRESENT = ClassUtils.isPresent("org.hibernate.engine.spi.SessionImplementor",
			PersistenceContexts.class.getClassLoader());

	private PersistenceContexts() {
	}

	/**
	 * What the contexts of the current transaction have read.
	 * @return the entities as a text, or {@code null} if there are none
	 */
	static @Nullable String entities() {
		for (Object resource : TransactionSynchronizationManager.getResourceMap().values()) {
			EntityManager context = (resource instanceof EntityManagerHolder holder) ? contextOf(holder) : null;
			String entities = (context != null) ? entities(context) : null;
			if (entities != null) {
				return entities;
			}
		}
		return null;
	}

	private static @Nullable String entities(EntityManager context) {
		HibernateContext hibernate = hibernate(context);
		return (hibernate != null) ? hibernate.entities() : "contents that this JPA provider does not show";
	}

	private static @Nullable HibernateContext hibernate(EntityManager context) {
		return HIBERNATE_PRESENT ? HibernateContext.of(context) : null;
	}

	/**
	 * Have the contexts of this thread read from the database what a second-level or
	 * query cache may know from before the lock: those of other instances are not told of
	 * what this one commits.
	 */
	static void readPastCaches() {
		TransactionSynchronizationManager.getResourceMap().values().forEach((resource) -> {
			EntityManager context = (resource instanceof EntityManagerHolder holder) ? contextOf(holder) : null;
			if (context != null) {
				context.setCacheRetrieveMode(CacheRetrieveMode.BYPASS);
				// Hibernate's find() looks at the property instead
				context.setProperty("jakarta.persistence.cache.retrieveMode", CacheRetrieveMode.BYPASS);
			}
		});
	}

	/** {@code null} for a holder of what has no context, such as a stateless session. */
	private static @Nullable EntityManager contextOf(EntityManagerHolder holder) {
		try {
			return holder.getEntityManager();
		}
		catch (IllegalStateException ex) {
			return null;
		}
	}

	/**
	 * Have the locked transaction read anew: bind an empty context instead of each that
	 * has read something. What was read before stays usable, and needs no connection
	 * meanwhile.
	 * @param locks the locks that are about to be acquired
	 * @return the contexts
	 */
	static SetAside setAside(List<LockName> locks) {
		Map<Object, Object> resources = TransactionSynchronizationManager.getResourceMap();
		if (resources.isEmpty()) {
			return SetAside.NOTHING;
		}
		List<Exchange> exchanges = new ArrayList<>();
		Map.copyOf(resources).forEach((key, resource) -> {
			EntityManager context = (resource instanceof EntityManagerHolder holder) ? contextOf(holder) : null;
			if (context != null && key instanceof EntityManagerFactory factory && entities(context) != null) {
				exchanges.add(Exchange.make(factory, (EntityManagerHolder) resource, text(locks)));
			}
		});
		readPastCaches();
		return exchanges.isEmpty() ? SetAside.NOTHING : new Exchanges(exchanges);
	}

	private static String text(List<LockName> locks) {
		return locks.stream()
			.map((lock) -> "'" + lock + "'")
			.collect(Collectors.joining(", ", (locks.size() > 1) ? "Locks " : "Lock ", ""));
	}

	/**
	 * The contexts that were set aside for one request.
	 *
	 * @param all each of them
	 */
	private record Exchanges(List<Exchange> all) implements SetAside {

		@Override
		public void requireUnchanged(LockName lock) {
			SortedSet<String> changes = new TreeSet<>();
			this.all.forEach((exchange) -> changes.addAll(exchange.changes()));
			if (!changes.isEmpty()) {
				throw new LockConfigurationException(
						"Lock '%s': the locked call has changed %s, which was read before the lock. It belongs to a persistence context that was set aside for this call, so nothing writes the change under the lock.%s Load it again inside the locked method, by its id, and change that."
							.formatted(lock, String.join(", ", changes),
									TransactionSynchronizationManager.isActualTransactionActive()
											? " The commit was refused and the transaction is rolled back." : ""));
			}
		}

		@Override
		public void bringBack() {
			this.all.forEach(Exchange::undo);
		}

	}

	/**
	 * One context that was set aside, until it is bound again.
	 */
	private static final class Exchange {

		private final EntityManagerFactory factory;

		private final EntityManagerHolder before;

		private final @Nullable EntityManagerHolder instead;

		private final Thread thread = Thread.currentThread();

		/** {@code null} for a provider that does not show what was changed. */
		private @Nullable HibernateSnapshot snapshot;

		private volatile boolean undone;

		private Exchange(EntityManagerFactory factory, EntityManagerHolder before) {
			this.factory = factory;
			this.before = before;
			// where Hibernate's own transaction manager is used, it binds a new one
			// itself
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
				ReadBeforeLock.noteAll(hibernate.session(), locks);
				SetAsideSessions.add(hibernate.session(), locks);
				hibernate.disconnect();
				exchange.closeBoth(hibernate);
			}
			TransactionSynchronizationManager.unbindResource(factory);
			if (exchange.instead != null) {
				TransactionSynchronizationManager.bindResource(factory, exchange.instead);
			}
			return exchange;
		}

		/** At its end the request closes what is bound then, and nothing else. */
		private void closeBoth(HibernateContext other) {
			HibernateContext bound = (this.instead != null) ? hibernate(this.instead.getEntityManager()) : null;
			if (bound != null) {
				bound.whenClosed(() -> {
					if (!this.undone) {
						EntityManagerFactoryUtils.closeEntityManager(other.session());
					}
				});
			}
		}

		SortedSet<String> changes() {
			return (this.snapshot != null && Thread.currentThread() == this.thread) ? this.snapshot.changes()
					: Collections.emptySortedSet();
		}

		/**
		 * Where the hold has ended on another thread, or in a transaction that uses the
		 * new context, that one stays bound.
		 */
		void undo() {
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
