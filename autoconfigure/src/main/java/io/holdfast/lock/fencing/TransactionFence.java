package io.holdfast.lock.fencing;

import java.lang.reflect.Method;
import java.sql.SQLException;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.BeanWrapper;
import org.springframework.beans.PropertyAccessorFactory;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionSynchronizationUtils;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockContext;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.StaleFencingTokenException;
import io.holdfast.lock.support.FinishedTransaction;

/**
 * Lets the transactions of one data source pass the fence of every lock that their thread
 * holds: when they begin, when a lock is acquired inside of them, and at the latest
 * before they commit.
 *
 * <p>
 * A transaction that is refused when it begins cannot be told so there, where an
 * exception would leak its connection. It is told before the body, or else when it wants
 * to commit; either way it rolls back. An inner transaction does not pass again what an
 * outer one of this thread has passed: it would wait for the row that the outer one
 * keeps, and as long as that is kept no other holder can pass. Thread-safe.
 */
public final class TransactionFence implements Fence {

	private final JdbcFencingGuard guard;

	private final DataSource dataSource;

	private final BiFunction<Method, Class<?>, @Nullable PlatformTransactionManager> managers;

	private final Function<DataSource, String> names;

	private final Predicate<LockHandle> own;

	private final Consumer<StaleFencingTokenException> onRefusal;

	/**
	 * Create the fence.
	 * @param guard the fence's memory, in the same database
	 * @param dataSource whose transactions are fenced
	 * @param names how messages name a data source
	 * @param managers tells who begins the transaction of a method, if that is known
	 * @param own which holds of a thread concern these transactions
	 * @param onRefusal told of every holder that was refused
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

	/** Whether the table can be used; throws what the database says otherwise. */
	public void verify() {
		this.guard.verify();
	}

	@Override
	public @Nullable String whyOff() {
		return null;
	}

	@Override
	public @Nullable String whyOff(Method method, Class<?> type) {
		PlatformTransactionManager manager = this.managers.apply(method, type);
		DataSource other = (manager != null) ? dataSourceOf(manager) : null;
		if (other == null || unwrapped(other) == unwrapped(this.dataSource)) {
			return null;
		}
		return "its transaction is one of data source %s, and those of %s are fenced. Name the data source that it writes to with 'distributed-lock.fencing.data-source', let it use the transaction manager of the fenced one, or leave 'fenced' out and use a FencingGuard."
			.formatted(this.names.apply(other), this.names.apply(this.dataSource));
	}

	/** Those of JDBC, JPA and Hibernate tell it; that of JTA has many. */
	private static @Nullable DataSource dataSourceOf(PlatformTransactionManager manager) {
		BeanWrapper properties = PropertyAccessorFactory.forBeanPropertyAccess(manager);
		return (properties.isReadableProperty("dataSource")
				&& properties.getPropertyValue("dataSource") instanceof DataSource dataSource) ? dataSource : null;
	}

	/** What a connection is bound to while a transaction lasts. */
	private static Object unwrapped(DataSource dataSource) {
		return TransactionSynchronizationUtils.unwrapResourceIfNecessary(dataSource);
	}

	/**
	 * A transaction is about to begin. Creates the rows that it will only share, unless
	 * this thread may have a connection already: waiting for a second one, it could
	 * exhaust the pool.
	 */
	void beforeBegin() {
		if (!TransactionSynchronizationManager.isActualTransactionActive()
				&& TransactionSynchronizationManager.getResourceMap().isEmpty() && PassedHolds.isEmpty()) {
			try {
				this.guard.prepare(LockContext.handles().stream().filter(this.own).toList());
			}
			catch (RuntimeException ex) {
				// the transaction creates them then, or says what the database says
			}
		}
	}

	/** A transaction has begun. Throws nothing; a refusal is told later. */
	void afterBegin() {
		try {
			passWithAll();
		}
		catch (RuntimeException ex) {
			// registered with the transaction, which cannot commit any more
		}
	}

	@Override
	public void beforeBody(@Nullable String requiredBy) {
		throwRefusal();
		boolean fenced = passWithAll();
		if (requiredBy != null && !fenced) {
			throw new LockConfigurationException(
					"%s: it has 'fenced = true' and holds %s in no transaction of the fenced data source (%s), or in a read-only one, so nothing would refuse a holder that was overtaken. Make it @Transactional on that data source ('distributed-lock.fencing.data-source'), or leave 'fenced' out and use a FencingGuard."
						.formatted(requiredBy, holds().stream().map((hold) -> "'" + hold.name() + "'").toList(),
								this.names.apply(this.dataSource)));
		}
	}

	/** The transaction is about to commit. */
	void beforeCommit() {
		passWithAll();
	}

	/**
	 * Let a holder in that this thread does not stand in by itself, such as one of an
	 * asynchronous acquisition.
	 * @param hold what it holds
	 * @throws LockConfigurationException if there is no transaction that could be fenced
	 */
	public void advance(LockHandle hold) {
		if (!isInFencedTransaction()) {
			throw new LockConfigurationException(
					"Lock '%s': there is no transaction of the fenced data source here. Call this in the transaction that writes, before its first read."
						.formatted(hold.name()));
		}
		pass(hold.parts());
	}

	private boolean passWithAll() {
		if (!isInFencedTransaction()) {
			return false;
		}
		pass(holds());
		return true;
	}

	private List<LockHandle> holds() {
		return LockContext.handles().stream().filter(this.own).toList();
	}

	private boolean isInFencedTransaction() {
		if (!TransactionSynchronizationManager.isActualTransactionActive()
				|| !TransactionSynchronizationManager.isSynchronizationActive()
				|| TransactionSynchronizationManager.isCurrentTransactionReadOnly()
				|| FinishedTransaction.isCurrent()) {
			return false;
		}
		Object resource = TransactionSynchronizationManager.getResource(this.dataSource);
		try {
			// one of another data source's transaction would commit each statement
			return resource instanceof ConnectionHolder holder && !holder.getConnection().getAutoCommit();
		}
		catch (SQLException ex) {
			return false;
		}
	}

	private void pass(List<LockHandle> holds) {
		List<LockHandle> ahead = PassedHolds.notAmong(holds);
		if (ahead.isEmpty()) {
			return;
		}
		try {
			this.guard.advance(ahead);
		}
		catch (RuntimeException ex) {
			refuse(ex);
			throw ex;
		}
		PassedHolds.add(ahead);
	}

	private void refuse(RuntimeException refusal) {
		TransactionSynchronizationManager.registerSynchronization(new Refusal(refusal));
		if (refusal instanceof StaleFencingTokenException stale) {
			this.onRefusal.accept(stale);
		}
	}

	private static void throwRefusal() {
		if (TransactionSynchronizationManager.isSynchronizationActive()) {
			TransactionSynchronizationManager.getSynchronizations().forEach((synchronization) -> {
				if (synchronization instanceof Refusal refusal) {
					throw refusal.reason();
				}
			});
		}
	}

	/**
	 * Keeps a transaction that was refused from committing, whatever its body did.
	 *
	 * @param reason why
	 */
	private record Refusal(RuntimeException reason) implements TransactionSynchronization {

		@Override
		public void beforeCommit(boolean readOnly) {
			throw this.reason;
		}

	}

}
