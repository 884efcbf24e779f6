package io.holdfast.lock.transaction;

import java.util.Set;
import java.util.TreeSet;

import jakarta.persistence.EntityManager;
import jakarta.persistence.PersistenceException;
import org.hibernate.SessionEventListener;
import org.hibernate.engine.spi.EntityKey;
import org.hibernate.engine.spi.SessionImplementor;
import org.hibernate.resource.jdbc.spi.LogicalConnectionImplementor;
import org.jspecify.annotations.Nullable;

/**
 * A persistence context of Hibernate.
 *
 * @param session its session
 */
record HibernateContext(SessionImplementor session) {

	/** {@code null} if it is one of another provider. */
	static @Nullable HibernateContext of(EntityManager context) {
		try {
			return new HibernateContext(context.unwrap(SessionImplementor.class));
		}
		catch (PersistenceException | IllegalArgumentException ex) {
			return null;
		}
	}

	/**
	 * The entities that were read. Those of which only a reference is there were not.
	 * @return how many and of which types, or {@code null} if there are none
	 */
	@Nullable String entities() {
		int count = this.session.getStatistics().getEntityCount();
		if (count == 0) {
			return null;
		}
		Set<String> types = new TreeSet<>();
		for (Object key : this.session.getStatistics().getEntityKeys()) {
			types.add(((EntityKey) key).getEntityName());
		}
		return (count + " entities of " + types).replaceFirst("^1 entities", "1 entity");
	}

	/** Run this when the session is closed. */
	void whenClosed(Runnable action) {
		this.session.getEventListenerManager().addListener(new SessionEventListener() {

			@Override
			public void end() {
				action.run();
			}

		});
	}

	/**
	 * Give the connection back to its pool; the next read takes another. Otherwise the
	 * request would keep it while it waits for the lock, and need a second one then.
	 */
	void disconnect() {
		LogicalConnectionImplementor connection = this.session.getJdbcCoordinator().getLogicalConnection();
		if (connection.isPhysicallyConnected() && !this.session.isTransactionInProgress()
				&& !connection.getResourceRegistry().hasRegisteredResources()) {
			connection.manualDisconnect();
		}
	}

}
