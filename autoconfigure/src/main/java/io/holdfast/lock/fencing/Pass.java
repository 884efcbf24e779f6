package io.holdfast.lock.fencing;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

import org.springframework.core.Ordered;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.support.TransactionSynchronization;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.support.FinishedTransaction;

/**
 * One pass. It ends when its transaction frees the rows: after its commit, before any
 * other callback can begin a transaction, or by a rollback.
 */
final class Pass implements TransactionSynchronization {

	/** Also those for which the outer transaction of the connection was asked. */
	final Set<PassedHold> passed;

	final ConnectionHolder connection;

	private final boolean first;

	/**
	 * The first pass on the connection that may still keep one of these rows, perhaps
	 * this one. It knows all savepoints since its row was locked, which are those of the
	 * outer transaction if that one was asked.
	 */
	private final Pass earliest;

	/**
	 * Those that are bound to no thread, and the fence that each has passed, unless a
	 * later hold of the lock has passed.
	 */
	final Map<PassedHold, Map.Entry<LockHandle, TransactionFence>> unbound = new HashMap<>();

	/** The savepoints since then, as far as their end is not known. */
	final Deque<Object> laterSavepoints = new ArrayDeque<>();

	boolean granted;

	/** Undone by a rollback to a savepoint. Some databases keep its rows locked. */
	boolean undone;

	/** Whether an inner transaction has asked for them since then, which locks them. */
	private boolean askedSince;

	/**
	 * Creates a pass.
	 * @param earlier those of the transaction in their order, and then the latest of all
	 * open transactions
	 */
	Pass(Set<PassedHold> passed, ConnectionHolder connection, boolean first, Collection<Pass> earlier) {
		this.passed = passed;
		this.connection = connection;
		this.first = first;
		this.earliest = earlier.stream()
			.filter((other) -> other.connection == connection && (!other.undone || other.askedSince)
					&& other.hasPassedOneOf(passed))
			.findFirst()
			.map((other) -> other.earliest)
			.orElse(this);
	}

	private boolean hasPassedOneOf(Set<PassedHold> holds) {
		return holds.stream().anyMatch((hold) -> this.passed.stream().anyMatch(hold::isOfSameLock));
	}

	/** Called before the transaction of a connection is asked for the rows of holds. */
	void asked(ConnectionHolder connection, Set<PassedHold> holds) {
		if (this.undone && !this.askedSince && this.connection == connection) {
			this.askedSince = hasPassedOneOf(holds);
		}
	}

	boolean isOpen() {
		return !FinishedTransaction.isOver(this.connection);
	}

	PassedHolds.Earlier as(boolean sameHold, boolean used) {
		return new PassedHolds.Earlier(this.connection, sameHold, !this.earliest.laterSavepoints.isEmpty(), this.first,
				this.granted && !this.undone && used);
	}

	@Override
	public int getOrder() {
		return Ordered.HIGHEST_PRECEDENCE;
	}

	@Override
	public void afterCommit() {
		PassedHolds.forget(this);
	}

	@Override
	public void savepoint(Object savepoint) {
		this.laterSavepoints.addLast(savepoint);
	}

	@Override
	public void savepointRollback(Object savepoint) {
		if (this.laterSavepoints.stream().noneMatch((later) -> later == savepoint)) {
			this.undone = true;
			this.askedSince = false;
			this.unbound.clear();
			this.laterSavepoints.clear();
			return;
		}
		// ends those after it, too
		while (this.laterSavepoints.peekLast() != savepoint) {
			this.laterSavepoints.removeLast();
		}
	}

	@Override
	public void afterCompletion(int status) {
		PassedHolds.forget(this);
	}

}
