package io.holdfast.lock.transaction;

import org.hibernate.event.spi.PostCommitUpdateEventListener;
import org.hibernate.event.spi.PostUpdateEvent;
import org.hibernate.persister.entity.EntityPersister;

/**
 * Records which attributes locked calls have written to rows of which a set-aside context
 * has a copy.
 */
final class CommittedUpdateListener implements PostCommitUpdateEventListener {

	@Override
	public boolean requiresPostCommitHandling(EntityPersister persister) {
		return SetAsideSessions.any();
	}

	@Override
	public void onPostUpdate(PostUpdateEvent event) {
		SetAsideSessions.committed(event);
	}

	@Override
	public void onPostUpdateCommitFailed(PostUpdateEvent event) {
		// nothing was written
	}

}
