package io.holdfast.lock.engine;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;

/**
 * Identifies a wait queue of this JVM.
 *
 * @param backend the name of the backend
 * @param lock the lock
 * @param mode the mode of all callers
 * @param only its only caller if that asks the store at once, else {@code null}
 */
record QueueKey(String backend, LockName lock, LockMode mode, LocalWaitQueues.@Nullable Ticket only) {

	static QueueKey of(LocalWaitQueues.Ticket ticket) {
		ResolvedRequest request = ticket.request;
		return new QueueKey(request.backend().name(), request.lock(), request.mode(),
				request.asksAtOnce() ? ticket : null);
	}

	/** Whether the queue is that in which leases pass from caller to caller. */
	boolean isOfLeases() {
		return this.mode == LockMode.EXCLUSIVE && this.only == null;
	}

	/** Returns the key of the queue of the same lock in which leases are passed on. */
	QueueKey ofLeases() {
		return new QueueKey(this.backend, this.lock, LockMode.EXCLUSIVE, null);
	}

	/** The backend and the mode hardly ever differ. */
	@Override
	public int hashCode() {
		return this.lock.hashCode() + ((this.only != null) ? this.only.hashCode() : 0);
	}

}
