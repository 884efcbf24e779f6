package io.holdfast.lock.transaction;

import java.util.Collection;
import java.util.Set;
import java.util.TreeSet;

import jakarta.persistence.EntityManager;
import jakarta.persistence.PersistenceException;
import org.hibernate.Filter;
import org.hibernate.SessionEventListener;
import org.hibernate.engine.spi.EntityKey;
import org.hibernate.engine.spi.LoadQueryInfluencers;
import org.hibernate.engine.spi.SessionImplementor;
import org.hibernate.internal.FilterImpl;
import org.hibernate.resource.jdbc.spi.LogicalConnectionImplementor;
import org.jspecify.annotations.Nullable;

/**
 * A persistence context of Hibernate.
 *
 * @param session the session of the context
 */
record HibernateContext(SessionImplementor session) {

	/**
	 * Returns the context, or {@code null} if it belongs to another provider or is
	 * closed.
	 */
	static @Nullable HibernateContext of(EntityManager context) {
		try {
			return new HibernateContext(context.unwrap(SessionImplementor.class));
		}
		catch (PersistenceException | IllegalArgumentException | IllegalStateException ex) {
			return null;
		}
	}

	/**
	 * Returns the entities that were read. References that are not loaded do not count.
	 * @return their number and types, or {@code null} if there are none
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

	/**
	 * Enables the filters and fetch profiles of another context here. A filter may hide
	 * the rows of other tenants.
	 */
	void filterAs(HibernateContext other) {
		LoadQueryInfluencers influencers = other.session.getLoadQueryInfluencers();
		influencers.getEnabledFilters().forEach((name, enabled) -> {
			Filter filter = this.session.enableFilter(name);
			((FilterImpl) enabled).getParameters().forEach((parameter, value) -> {
				if (value instanceof Collection<?> values) {
					filter.setParameterList(parameter, values);
				}
				else {
					filter.setParameter(parameter, value);
				}
			});
		});
		influencers.getEnabledFetchProfileNames().forEach(this.session::enableFetchProfile);
	}

	/** Runs an action when the session is closed. */
	void whenClosed(Runnable action) {
		this.session.getEventListenerManager().addListener(new SessionEventListener() {

			@Override
			public void end() {
				action.run();
			}

		});
	}

	/**
	 * Returns the connection to its pool; the next read obtains another one. Otherwise,
	 * the request would keep the connection while it waits for the lock, and would then
	 * need a second one.
	 */
	void disconnect() {
		LogicalConnectionImplementor connection = this.session.getJdbcCoordinator().getLogicalConnection();
		if (connection.isPhysicallyConnected() && !this.session.isTransactionInProgress()
				&& !connection.getResourceRegistry().hasRegisteredResources()) {
			connection.manualDisconnect();
		}
	}

}
