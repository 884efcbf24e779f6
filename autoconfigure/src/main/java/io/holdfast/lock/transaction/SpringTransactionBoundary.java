package io.holdfast.lock.transaction;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.TransactionBoundary;
import io.holdfast.lock.support.FinishedTransaction;

/**
 * Keeps a lock that was acquired inside a transaction until that transaction has
 * completed, or rejects the acquisition, depending on {@link WhenActive}.
 *
 * <p>
 * A lock that is released before its transaction commits protects nothing, because the
 * next holder reads the previous state. Thread-safe.
 */
public final class SpringTransactionBoundary implements TransactionBoundary {

	private static final Log logger = LogFactory.getLog(SpringTransactionBoundary.class);

	static final boolean JPA_PRESENT = isPresent("org.springframework.orm.jpa.EntityManagerHolder")
			&& isPresent("jakarta.persistence.EntityManager");

	private static final boolean MYBATIS_PRESENT = isPresent("org.mybatis.spring.SqlSessionHolder")
			&& isPresent("org.apache.ibatis.session.SqlSession");

	private final WhenActive whenActive;

	private final Supplier<Stream<PlatformTransactionManager>> managers;

	private final TransactionSnapshot snapshot = new TransactionSnapshot();

	/** Lock names without keys: about one entry for each annotation. */
	private final Set<String> warned = ConcurrentHashMap.newKeySet();

	/**
	 * Creates a boundary.
	 * @param whenActive the policy for a caller that is already in a transaction
	 * @param managers supplies the transaction managers of the application
	 */
	public SpringTransactionBoundary(WhenActive whenActive, Supplier<Stream<PlatformTransactionManager>> managers) {
		this.whenActive = whenActive;
		this.managers = managers;
	}

	private static boolean isPresent(String type) {
		return ClassUtils.isPresent(type, SpringTransactionBoundary.class.getClassLoader());
	}

	/**
	 * Suspends a transaction that is over and whose callbacks run. The call would read
	 * what that transaction has read before the lock, and a write that joined it would be
	 * committed after the release, or never.
	 */
	@Override
	public <T extends @Nullable Object, E extends Throwable> T run(LockedCall<T, E> call) throws E {
		return FinishedTransaction.isOnThread() ? SuspendedTransactions.run(this.managers, call) : call.run();
	}

	@Override
	public SetAside setAside(List<LockName> locks) {
		return JPA_PRESENT ? PersistenceContexts.setAside(locks) : SetAside.NOTHING;
	}

	@Override
	public void beforeAcquire(LockName lock) {
		if (FinishedTransaction.isOnThread()) {
			requireNothingReadInFinished(lock);
			return;
		}
		if (FinishedTransaction.isUnderAnother()) {
			UnboundResources.untilCurrentTransactionEnds();
		}
		if (!TransactionSynchronizationManager.isActualTransactionActive()) {
			if (TransactionSynchronizationManager.isSynchronizationActive() && this.whenActive != WhenActive.ALLOW) {
				requireNothingReadBefore(lock);
			}
			return;
		}
		if (FinishedTransaction.isCurrent()) {
			return;
		}
		switch (this.whenActive) {
			case HOLD -> requireThatHoldingHelps(lock);
			case FAIL -> throw refused(lock, "and 'distributed-lock.transaction.when-active' is 'fail'");
			case ALLOW -> warnOnce(lock);
		}
	}

	@Override
	public void beforeAcquireAsync(LockName lock) {
		if (!TransactionSynchronizationManager.isActualTransactionActive() || FinishedTransaction.isCurrent()) {
			return;
		}
		if (this.whenActive != WhenActive.ALLOW) {
			throw refused(lock,
					"and an asynchronous acquisition is bound to no thread, so this transaction would not keep its lock until it has completed");
		}
		warnOnce(lock);
	}

	private void requireNothingReadInFinished(LockName lock) {
		String entities = (JPA_PRESENT && this.whenActive != WhenActive.ALLOW) ? PersistenceContexts.entities() : null;
		if (entities != null) {
			throw new LockConfigurationException(
					"Lock '%s' was not acquired: the caller is a callback of a transaction that has completed, and whose persistence context contains %s. They were read or written before the lock and would be returned from memory, so it could use data that an earlier holder has changed since. Run the code that needs the lock in a method with @DistributedLock or in LockOperations.execute, which suspend that transaction."
						.formatted(lock, entities));
		}
	}

	private void requireThatHoldingHelps(LockName lock) {
		String isolation = this.snapshot.isolationOfOldReads();
		if (isolation != null) {
			throw refused(lock, "which reads at " + isolation
					+ " from a snapshot that may be older than the lock, so it could use data that an earlier holder has changed since");
		}
		requireNothingReadBefore(lock);
	}

	/**
	 * Rejects data that was read before the lock and would not be read again under it.
	 */
	private void requireNothingReadBefore(LockName lock) {
		String entities = JPA_PRESENT ? PersistenceContexts.entities() : null;
		if (entities != null) {
			throw refused(lock,
					"whose persistence context contains %s. They were read or written before the lock and would be returned from memory, so it could use data that an earlier holder has changed since. If they come from another locked call, acquire both locks in one request. If it no longer needs them, flush and clear its EntityManager first"
						.formatted(entities));
		}
		if (JPA_PRESENT) {
			PersistenceContexts.readPastCaches();
		}
		if (MYBATIS_PRESENT) {
			MyBatisSessions.forgetAnswers();
		}
	}

	private LockConfigurationException refused(LockName lock, String why) {
		return new LockConfigurationException(
				"Lock '%s' was not acquired: the caller is already in a transaction%s, %s. Acquire the lock before the transaction starts: put @DistributedLock on the method that starts it, or call from outside it."
					.formatted(lock, transaction(), why));
	}

	private static String transaction() {
		String name = TransactionSynchronizationManager.getCurrentTransactionName();
		return (name != null) ? " ('" + name + "')" : "";
	}

	private void warnOnce(LockName lock) {
		if (this.warned.size() < 1_000 && this.warned.add(lock.name())) {
			logger.warn(
					"Lock '%s' is acquired inside a transaction%s and released before it commits, because 'distributed-lock.transaction.when-active' is 'allow'. The next holder may read the state from before that commit, so an update may be lost."
						.formatted(lock.name(), transaction()));
		}
	}

	@Override
	public boolean defersReleases() {
		return this.whenActive != WhenActive.ALLOW;
	}

	@Override
	public void deferRelease(DeferrableHold hold) {
		DeferredReleases.inCurrentTransaction(hold);
	}

}
