package io.holdfast.lock.transaction;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;

import org.hibernate.engine.spi.EntityEntry;
import org.hibernate.engine.spi.PersistenceContext;
import org.hibernate.engine.spi.SessionImplementor;
import org.hibernate.engine.spi.SharedSessionContractImplementor;
import org.hibernate.event.spi.PostUpdateEvent;
import org.hibernate.proxy.HibernateProxy;
import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockConfigurationException;

/**
 * The Hibernate sessions that are set aside on the current thread.
 */
final class SetAsideSessions {

	private static final ThreadLocal<List<SetAsideSession>> CURRENT = new ThreadLocal<>();

	private SetAsideSessions() {
	}

	/**
	 * Adds a session until it is removed or closed.
	 * @param session the session
	 * @param locks the locks for which it is set aside, as text
	 */
	static void add(SessionImplementor session, String locks) {
		add(session, locks, true);
	}

	/**
	 * Adds a session until it is removed or closed. Its entities with a version may be
	 * passed on, because Hibernate compares it.
	 * @param session the session
	 * @param locks the locks for which it is set aside, as text
	 */
	static void addUnlessVersioned(SessionImplementor session, String locks) {
		add(session, locks, false);
	}

	private static void add(SessionImplementor session, String locks, boolean versioned) {
		remove(session);
		List<SetAsideSession> sessions = CURRENT.get();
		if (sessions == null) {
			sessions = new ArrayList<>();
			CURRENT.set(sessions);
		}
		sessions.add(new SetAsideSession(new WeakReference<>(session), locks, versioned));
	}

	/** Removes a session, and those that have been closed elsewhere. */
	static void remove(SessionImplementor session) {
		List<SetAsideSession> sessions = CURRENT.get();
		if (sessions != null) {
			sessions.removeIf((setAside) -> {
				SessionImplementor other = setAside.session().get();
				return other == null || other == session || !other.isOpen();
			});
			if (sessions.isEmpty()) {
				CURRENT.remove();
			}
		}
	}

	/**
	 * Fails if an entity belongs to a session that is set aside.
	 * @param instance the entity, or a proxy of it
	 * @param given the session to which it was passed
	 * @param refused the rejected operation, as the message names it
	 */
	static void requireOthers(@Nullable Object instance, SharedSessionContractImplementor given, String refused) {
		List<SetAsideSession> sessions = CURRENT.get();
		if (sessions == null || instance == null) {
			return;
		}
		for (SetAsideSession setAside : sessions) {
			SessionImplementor session = setAside.session().get();
			if (session != null && session != given && session.isOpen() && session.getFactory() == given.getFactory()) {
				String entity = describe(instance, session, setAside.versioned());
				if (entity != null) {
					throw refused(setAside.locks(), entity, refused);
				}
			}
		}
	}

	static boolean any() {
		return CURRENT.get() != null;
	}

	/** Called when a transaction of this thread has committed an UPDATE. */
	static void committed(PostUpdateEvent event) {
		List<SetAsideSession> sessions = CURRENT.get();
		int[] attributes = event.getDirtyProperties();
		if (sessions == null || attributes == null) {
			return;
		}
		for (SetAsideSession setAside : sessions) {
			SessionImplementor session = setAside.session().get();
			if (session != null && session.isOpen() && session.getFactory() == event.getFactory()) {
				PersistenceContext context = session.getPersistenceContextInternal();
				Object entity = context.getEntity(session.generateEntityKey(event.getId(), event.getPersister()));
				ReadBeforeLock.noteWrittenUnderLock(context.getEntry(entity), attributes);
			}
		}
	}

	/**
	 * Returns the name and id of an entity.
	 * @param versioned whether an entity with a version counts
	 * @return {@code null} if the entity does not belong to the session, or does not
	 * count
	 */
	private static @Nullable String describe(Object instance, SessionImplementor session, boolean versioned) {
		Object entity = instance;
		if (instance instanceof HibernateProxy proxy) {
			if (proxy.getHibernateLazyInitializer().getSession() != session) {
				return null;
			}
			if (proxy.getHibernateLazyInitializer().isUninitialized()) {
				return text(proxy.getHibernateLazyInitializer().getEntityName(),
						proxy.getHibernateLazyInitializer().getInternalIdentifier());
			}
			entity = proxy.getHibernateLazyInitializer().getImplementation();
		}
		EntityEntry entry = session.getPersistenceContextInternal().getEntry(entity);
		return (entry != null && (versioned || !entry.getPersister().isVersioned()))
				? text(entry.getEntityName(), entry.getId()) : null;
	}

	static String text(String entityName, @Nullable Object id) {
		return entityName + "#" + id;
	}

	private static LockConfigurationException refused(String locks, String entity, String refused) {
		return new LockConfigurationException(
				"%s: %s was read before the lock and cannot be %s. It belongs to a persistence context that is set aside during the locked call, and other transactions may have changed its row since. Pass its id to the locked method, load it there, and work with that instance."
					.formatted(locks, entity, refused));
	}

	/**
	 * A session that is set aside.
	 *
	 * @param session the session
	 * @param locks the locks for which it is set aside, as text
	 * @param versioned whether its entities with a version are rejected, too
	 */
	private record SetAsideSession(WeakReference<SessionImplementor> session, String locks, boolean versioned) {

	}

}
