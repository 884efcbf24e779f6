package io.holdfast.lock.fencing;

import java.lang.reflect.Method;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.BeanWrapper;
import org.springframework.beans.PropertyAccessorFactory;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionSynchronizationUtils;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockContext;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.StaleFencingTokenException;
import io.holdfast.lock.support.CommitVeto;
import io.holdfast.lock.support.FinishedTransaction;
import io.holdfast.lock.support.TransactionAwareDataSources;

/**
 * Makes the transactions of one data source pass the fence of every lock that their
 * thread holds. They pass it when they start, when a lock is acquired inside them, and at
 * the latest before they commit.
 *
 * <p>
 * A rejection at the start of a transaction cannot be reported there, because an
 * exception would leak its connection. It is reported before the body, or else at commit.
 * In both cases, the transaction rolls back.
 *
 * <p>
 * An inner transaction does not pass the fence again for a hold with which an outer
 * transaction of this thread has passed. It would wait for the row that the outer
 * transaction keeps. As long as that row is kept, no other holder can pass. A later hold
 * of the same lock passes with the connection of the outer one. The row is kept until the
 * commit, so a transaction that begins in a callback after it passes again. So does an
 * inner one if the database has ended the outer one, or if its data source leads to
 * another database. A transaction of another manager does not pass with the connection of
 * the outer one. Thread-safe.
 */
public final class TransactionFence implements Fence {

	/** Before the commit, an outer transaction is asked whether it has ended. */
	private static final Predicate<PassedHolds.Earlier> SINCE_BEGIN = PassedHolds.Earlier::granted;

	private final JdbcFencingGuard guard;

	private final DataSource dataSource;

	private final BiFunction<Method, Class<?>, @Nullable PlatformTransactionManager> managers;

	private final Function<DataSource, String> names;

	private final Predicate<LockHandle> own;

	private final Consumer<StaleFencingTokenException> onRefusal;

	/**
	 * Creates the fence.
	 * @param guard the guard that stores the tokens, in the same database
	 * @param dataSource the data source whose transactions are fenced
	 * @param names returns the name of a data source for messages
	 * @param managers returns the transaction manager of a method, if that is known
	 * @param own selects the holds of a thread that concern these transactions
	 * @param onRefusal called for every holder that was rejected
	 */
	public TransactionFence(JdbcFencingGuard guard, DataSource dataSource, Function<DataSource, String> names,
			BiFunction<Method, Class<?>, @Nullable PlatformTransactionManager> managers, Predicate<LockHandle> own,
			Consumer<StaleFencingTokenException> onRefusal) {
		this.guard = guard;
		this.dataSource = dataSource;
		this.names = names;
		this.managers = managers;
		this.own = own;
		this.onRefusal = onRefusal;
	}

	/**
	 * Returns the listener through which transactions pass the fence.
	 * @param fence the fence, looked up at the first transaction with a lock; one of
	 * another type fences no transactions
	 * @return the listener, for the transaction managers
	 */
	public static TransactionExecutionListener listener(Supplier<@Nullable Fence> fence) {
		return new FenceListener(() -> (fence.get() instanceof TransactionFence present) ? present : null);
	}

	/** Verifies the table; throws the database's exception if it cannot be used. */
	public void verify() {
		this.guard.verify();
	}

	/** Returns the data source whose transactions are fenced. */
	public DataSource dataSource() {
		return this.dataSource;
	}

	/** Returns the guard that stores the tokens of these transactions. */
	public JdbcFencingGuard guard() {
		return this.guard;
	}

	@Override
	public @Nullable String unfencedReason() {
		return null;
	}

	@Override
	public @Nullable String unfencedReason(Method method, Class<?> type) {
		PlatformTransactionManager manager = this.managers.apply(method, type);
		DataSource other = (manager != null) ? otherDataSource(manager) : null;
		return (other == null) ? null
				: "its transaction uses data source %s, but the fenced data source is %s. Set 'distributed-lock.fencing.data-source' to the one that it writes to, let it use the transaction manager of the fenced one, or remove 'fenced' and use a FencingGuard."
					.formatted(this.names.apply(other), this.names.apply(this.dataSource));
	}

	/**
	 * Returns the data source of a transaction manager whose transactions are not fenced.
	 * @param manager the transaction manager
	 * @return its data source, or {@code null} if that is fenced or not known
	 */
	public @Nullable DataSource otherDataSource(PlatformTransactionManager manager) {
		DataSource used = dataSourceOf(manager);
		return (used == null || bound(used) == bound(this.dataSource)) ? null : used;
	}

	/** The managers of JDBC, JPA and Hibernate expose their data source; JTA has many. */
	private static @Nullable DataSource dataSourceOf(PlatformTransactionManager manager) {
		BeanWrapper properties = PropertyAccessorFactory.forBeanPropertyAccess(manager);
		return (properties.isReadableProperty("dataSource")
				&& properties.getPropertyValue("dataSource") instanceof DataSource dataSource) ? dataSource : null;
	}

	/** Returns the key to which a connection is bound during a transaction. */
	private static Object bound(DataSource dataSource) {
		return TransactionSynchronizationUtils
			.unwrapResourceIfNecessary(TransactionAwareDataSources.target(dataSource));
	}

	/**
	 * Called before a transaction starts. Creates the rows that the transaction will only
	 * share, unless this thread may already have a connection: waiting for a second one
	 * could exhaust the pool.
	 */
	void beforeBegin() {
		if (!TransactionSynchronizationManager.isActualTransactionActive()
				&& TransactionSynchronizationManager.getResourceMap().isEmpty() && PassedHolds.isEmpty()) {
			try {
				this.guard.prepare(holds());
			}
			catch (Throwable ex) {
				// the transaction then creates the rows, or fails for the same reason
			}
		}
	}

	/**
	 * Called when a transaction has started.
	 * @param nested whether it is a savepoint of a transaction
	 */
	void afterBegin(boolean nested) {
		passWithAll((outer) -> false, !nested);
	}

	@Override
	public void beforeBody(@Nullable String requiredBy) {
		CommitVeto.throwReason();
		boolean fenced = passWithAll(SINCE_BEGIN, false);
		if (requiredBy != null && holds().isEmpty()) {
			throw new LockConfigurationException(
					"%s: it has 'fenced = true', but the thread that runs it ('%s') holds no lock. Advice between the lock and the method moved the call to another thread, or LockOperations is a mock. Make that advice precede the lock, with an order below Ordered.LOWEST_PRECEDENCE - 100, or remove it. In a test, remove the mock and set 'distributed-lock.backend=local'."
						.formatted(requiredBy, Thread.currentThread().getName()));
		}
		if (requiredBy != null && !fenced) {
			throw new LockConfigurationException(
					"%s: it has 'fenced = true' and holds %s outside a transaction of the fenced data source (%s), or in a read-only one, so a stale holder would not be rejected. Make it @Transactional on that data source ('distributed-lock.fencing.data-source'), or remove 'fenced' and use a FencingGuard; in a transaction of JTA, call JdbcFencingGuard.on(connection).advance(handle) before the first read."
						.formatted(requiredBy, holds().stream().map((hold) -> "'" + hold.lock() + "'").toList(),
								this.names.apply(this.dataSource)));
		}
	}

	/**
	 * Called before the transaction commits. The code may have continued without its row
	 * after a deadlock, a rollback to a savepoint that Spring does not know, or the end
	 * of an outer transaction that was idle for too long.
	 */
	void beforeCommit() {
		ConnectionHolder own = fencedConnection();
		if (own != null) {
			// also of other fences: a parent's manager lacks the child's listener
			Map<TransactionFence, List<LockHandle>> all = PassedHolds.unbound();
			// together, so that the rows are locked in one order; a later hold is bound
			all.merge(this, holds(), (unbound, bound) -> Stream.concat(unbound.stream(), bound.stream()).toList());
			all.forEach((fence, holds) -> fence.pass(holds, own,
					(passed) -> passed.connection() == own && passed.first() && !fence.guard.mayLoseRows(), false));
		}
	}

	/**
	 * Passes the fence with a hold that is bound to no thread.
	 * @param hold the hold
	 * @throws LockConfigurationException if there is no transaction that could be fenced
	 */
	public void advance(LockHandle hold) {
		CommitVeto.throwReason();
		ConnectionHolder connection = fencedConnection();
		if (connection == null) {
			throw new LockConfigurationException(
					"Lock '%s': no transaction of the fenced data source is active. Call this in the transaction that writes, before its first read."
						.formatted(hold.lock()));
		}
		pass(hold.parts(), connection, (passed) -> passed.connection() == connection, false);
		PassedHolds.noteUnbound(hold.parts(), connection, this.guard.database().of(connection), this);
	}

	private boolean passWithAll(Predicate<PassedHolds.Earlier> trusted, boolean first) {
		ConnectionHolder connection = fencedConnection();
		if (connection != null) {
			pass(holds(), connection, trusted, first);
		}
		return connection != null;
	}

	private List<LockHandle> holds() {
		return LockContext.handles().stream().filter(this.own).toList();
	}

	/** Returns the resource of the current transaction's connection if it is fenced. */
	private @Nullable ConnectionHolder fencedConnection() {
		if (!TransactionSynchronizationManager.isActualTransactionActive()
				|| !TransactionSynchronizationManager.isSynchronizationActive()
				|| TransactionSynchronizationManager.isCurrentTransactionReadOnly()
				|| FinishedTransaction.isCurrent()) {
			return null;
		}
		Object resource = TransactionSynchronizationManager.getResource(bound(this.dataSource));
		try {
			// with the connection of another data source, each statement would commit
			return (resource instanceof ConnectionHolder holder && !FinishedTransaction.isOfOuter(holder)
					&& holder.getConnectionHandle() != null && !holder.getConnection().getAutoCommit()) ? holder : null;
		}
		catch (SQLException ex) {
			return null;
		}
	}

	/**
	 * Passes with all holds that have not passed.
	 * @param trusted whether the transaction of an earlier pass keeps its rows; otherwise
	 * it is asked
	 */
	private void pass(List<LockHandle> holds, ConnectionHolder connection, Predicate<PassedHolds.Earlier> trusted,
			boolean first) {
		if (holds.isEmpty()) {
			return;
		}
		try {
			String database = this.guard.database().of(connection);
			List<LockHandle> ahead = PassedHolds.notAmong(holds, connection, database,
					(passed, earlier) -> (earlier.sameHold() && trusted.test(earlier)) || isKept(passed, earlier));
			if (!ahead.isEmpty()) {
				PassedHolds.add(ahead, connection, database, first, () -> this.guard.advance(ahead));
			}
		}
		catch (Throwable ex) {
			CommitVeto veto = CommitVeto.register(ex);
			if (ex instanceof StaleFencingTokenException stale) {
				this.onRefusal.accept(stale);
			}
			throw veto.thrown();
		}
	}

	/**
	 * Whether an outer transaction still keeps the rows. The database may have ended it
	 * after a failed statement or a deadlock, and the caller may have gone on.
	 */
	private boolean isKept(List<LockHandle> passed, PassedHolds.Earlier earlier) {
		ConnectionHolder outer = earlier.connection();
		// Spring returns a connection beside the transaction when it suspends that one
		return outer.getConnectionHandle() != null
				&& this.guard.isKept(passed, outer.getConnection(), earlier.beforeSavepoint());
	}

}
