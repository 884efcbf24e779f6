package io.holdfast.lock.transaction;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.core.Ordered;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.holdfast.lock.LockContext;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.spi.TransactionBoundary.DeferrableHold;
import io.holdfast.lock.support.Failures;
import io.holdfast.lock.support.FinishedTransaction;

/**
 * Defers the release of holds until one transaction has completed, with any outcome. It
 * covers all holds that are bound to the transaction's thread at any time while the
 * transaction is active. Registered with every transaction, because one without a hold
 * may be suspended and resumed while a hold is bound.
 *
 * <p>
 * An inner transaction of another transaction manager suspends the callbacks of the outer
 * one but leaves its connection on the thread. Code under a lock may write with either,
 * so both defer the release.
 */
final class DeferredReleases implements TransactionSynchronization {

	/** Transactions of this thread whose callbacks are suspended, if there are any. */
	private static final ThreadLocal<@Nullable List<DeferredReleases>> SUSPENDED = new ThreadLocal<>();

	private final Map<LockHandle, Runnable> releases = new LinkedHashMap<>();

	/**
	 * The connections and contexts that were on the thread for this transaction when it
	 * was suspended.
	 */
	private List<Object> resources = List.of();

	private DeferredReleases() {
	}

	private static List<DeferredReleases> suspended() {
		List<DeferredReleases> suspended = SUSPENDED.get();
		return (suspended != null) ? suspended : List.of();
	}

	/**
	 * Returns the connections and contexts of the transactions of this thread that are
	 * suspended.
	 */
	static List<Object> suspendedResources() {
		return suspended().stream().flatMap((suspended) -> suspended.resources.stream()).toList();
	}

	/** Called when a transaction has started on this thread. */
	static void onTransactionStarted() {
		DeferredReleases current = current();
		if (current != null) {
			current.deferAll();
		}
	}

	static void inCurrentTransaction(DeferrableHold hold) {
		DeferredReleases current = current();
		if (current != null) {
			current.defer(hold);
		}
		suspended().stream().filter(DeferredReleases::isOnThread).forEach((outer) -> outer.defer(hold));
	}

	private static @Nullable DeferredReleases current() {
		if (!TransactionSynchronizationManager.isActualTransactionActive() || FinishedTransaction.isCurrent()) {
			return null;
		}
		for (TransactionSynchronization callback : TransactionSynchronizationManager.getSynchronizations()) {
			if (callback instanceof DeferredReleases registered) {
				return registered;
			}
		}
		DeferredReleases registered = new DeferredReleases();
		TransactionSynchronizationManager.registerSynchronization(registered);
		return registered;
	}

	/** Whether the connection of a suspended transaction is still on its thread. */
	private boolean isOnThread() {
		return FinishedTransaction.transactionalResources().anyMatch(this::has);
	}

	private boolean has(Object resource) {
		return FinishedTransaction.isAmong(resource, this.resources);
	}

	private void deferAll() {
		List<LockHandle> handles = new ArrayList<>(LockContext.handles());
		Collections.reverse(handles);
		for (LockHandle handle : handles) {
			if (handle instanceof DeferrableHold hold) {
				defer(hold);
			}
		}
	}

	private void defer(DeferrableHold hold) {
		this.releases.computeIfAbsent(hold, (added) -> hold.deferRelease());
	}

	/**
	 * After all callbacks with a higher precedence. Those of the default order share this
	 * one: they run in the order of their registration, as a rule after the release.
	 */
	@Override
	public int getOrder() {
		return Ordered.LOWEST_PRECEDENCE;
	}

	@Override
	public void suspend() {
		List<DeferredReleases> outer = suspended();
		this.resources = FinishedTransaction.transactionalResources()
			.filter((resource) -> outer.stream().noneMatch((other) -> other.has(resource)))
			.toList();
		SUSPENDED.set(Stream.concat(outer.stream(), Stream.of(this)).toList());
	}

	@Override
	public void resume() {
		forgetSuspension();
		if (!FinishedTransaction.isCurrent()) {
			deferAll();
		}
	}

	private void forgetSuspension() {
		List<DeferredReleases> others = suspended().stream().filter((other) -> other != this).toList();
		if (others.isEmpty()) {
			SUSPENDED.remove();
		}
		else {
			SUSPENDED.set(others);
		}
	}

	/**
	 * Checks the commit of a manager that has no {@link LockCommitListener}. A hold whose
	 * release was not deferred may have ended.
	 */
	@Override
	public void beforeCommit(boolean readOnly) {
		if (!readOnly && !FinishedTransaction.hasBegun()) {
			LockCommitListener.verify(LockContext.handles().stream().filter(this.releases::containsKey));
		}
	}

	@Override
	public void afterCompletion(int status) {
		forgetSuspension();
		List<Runnable> innermostFirst = new ArrayList<>(this.releases.values());
		Collections.reverse(innermostFirst);
		this.releases.clear();
		Failures.runAll(innermostFirst);
	}

}
