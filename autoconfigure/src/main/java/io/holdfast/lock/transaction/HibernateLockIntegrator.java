package io.holdfast.lock.transaction;

import org.hibernate.boot.Metadata;
import org.hibernate.boot.spi.BootstrapContext;
import org.hibernate.engine.spi.SessionFactoryImplementor;
import org.hibernate.event.service.spi.EventListenerRegistry;
import org.hibernate.event.spi.EventType;
import org.hibernate.integrator.spi.Integrator;

/**
 * Registers the listeners that protect entities read before a lock with each session
 * factory. Hibernate discovers it as a service.
 */
public final class HibernateLockIntegrator implements Integrator {

	@Override
	public void integrate(Metadata metadata, BootstrapContext bootstrapContext, SessionFactoryImplementor factory) {
		EventListenerRegistry listeners = factory.getEventEngine().getListenerRegistry();
		SetAsideInstanceListener instances = new SetAsideInstanceListener();
		listeners.prependListeners(EventType.MERGE, instances);
		listeners.prependListeners(EventType.PERSIST, instances);
		listeners.prependListeners(EventType.PERSIST_ONFLUSH, instances);
		listeners.prependListeners(EventType.REFRESH, instances);
		listeners.prependListeners(EventType.LOCK, instances);
		listeners.prependListeners(EventType.DELETE, instances);
		OverwriteListener overwrites = new OverwriteListener();
		listeners.prependListeners(EventType.PRE_UPDATE, overwrites);
		listeners.appendListeners(EventType.MERGE, overwrites);
		listeners.appendListeners(EventType.POST_INSERT, overwrites);
		listeners.appendListeners(EventType.POST_UPDATE, overwrites);
		listeners.appendListeners(EventType.POST_COMMIT_UPDATE, new CommittedUpdateListener());
	}

}
