package io.holdfast.lock.transaction;

import org.hibernate.Hibernate;
import org.hibernate.event.spi.DeleteContext;
import org.hibernate.event.spi.DeleteEvent;
import org.hibernate.event.spi.DeleteEventListener;
import org.hibernate.event.spi.LockEvent;
import org.hibernate.event.spi.LockEventListener;
import org.hibernate.event.spi.MergeContext;
import org.hibernate.event.spi.MergeEvent;
import org.hibernate.event.spi.MergeEventListener;
import org.hibernate.event.spi.PersistContext;
import org.hibernate.event.spi.PersistEvent;
import org.hibernate.event.spi.PersistEventListener;
import org.hibernate.event.spi.RefreshContext;
import org.hibernate.event.spi.RefreshEvent;
import org.hibernate.event.spi.RefreshEventListener;

/**
 * Rejects an entity of a set-aside context if a caller or a cascade passes it to another
 * context of the same factory.
 */
final class SetAsideInstanceListener implements MergeEventListener, PersistEventListener, RefreshEventListener,
		LockEventListener, DeleteEventListener {

	@Override
	public void onMerge(MergeEvent event) {
		// a reference that was not loaded has no values to merge
		if (Hibernate.isInitialized(event.getOriginal())) {
			SetAsideSessions.requireOthers(event.getOriginal(), event.getSession(),
					"merged, saved or deleted under it");
		}
	}

	@Override
	public void onMerge(MergeEvent event, MergeContext copied) {
		onMerge(event);
	}

	@Override
	public void onPersist(PersistEvent event) {
		SetAsideSessions.requireOthers(event.getObject(), event.getSession(),
				"persisted under it, not even by a cascade");
	}

	@Override
	public void onPersist(PersistEvent event, PersistContext created) {
		onPersist(event);
	}

	@Override
	public void onRefresh(RefreshEvent event) {
		SetAsideSessions.requireOthers(event.getObject(), event.getSession(), "refreshed under it");
	}

	@Override
	public void onRefresh(RefreshEvent event, RefreshContext refreshed) {
		onRefresh(event);
	}

	@Override
	public void onLock(LockEvent event) {
		SetAsideSessions.requireOthers(event.getObject(), event.getSession(), "locked in the database under it");
	}

	@Override
	public void onDelete(DeleteEvent event) {
		SetAsideSessions.requireOthers(event.getObject(), event.getSession(), "removed under it");
	}

	@Override
	public void onDelete(DeleteEvent event, DeleteContext transientEntities) {
		onDelete(event);
	}

}
