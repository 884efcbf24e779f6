package io.holdfast.lock.autoconfigure;

import java.util.function.Predicate;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.EmbeddedDatabaseConnection;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Fallback;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Role;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.StaleFencingTokenException;
import io.holdfast.lock.backend.jdbc.AdvisoryLockBackend;
import io.holdfast.lock.fencing.Fence;
import io.holdfast.lock.fencing.FencingGuard;
import io.holdfast.lock.fencing.JdbcFencingGuard;
import io.holdfast.lock.fencing.TransactionFence;
import io.holdfast.lock.interceptor.FenceBeanPostProcessor;
import io.holdfast.lock.spi.LockDigest;
import io.holdfast.lock.spi.observation.LockObserver;
import io.holdfast.lock.support.GuardedLog;
import io.holdfast.lock.transaction.MethodTransactions;
import io.holdfast.lock.transaction.TransactionListenerPostProcessor;

/**
 * Auto-configuration for fencing transactions in the application's database. Fencing is
 * enabled if the database has the fence table.
 */
@AutoConfiguration(afterName = "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration")
@ConditionalOnClass({ JdbcTemplate.class, TransactionSynchronizationManager.class, EmbeddedDatabaseConnection.class })
@ConditionalOnLocksEnabled
@EnableConfigurationProperties({ DistributedLockProperties.class, FencingProperties.class })
public final class FencingAutoConfiguration {

	private static final GuardedLog logger = GuardedLog.of(FencingAutoConfiguration.class);

	/**
	 * Creates the fence after the application's own migrations, which may create the
	 * table.
	 */
	@Bean
	@ConditionalOnMissingBean
	@DependsOnDatabaseInitialization
	Fence lockFence(FencingProperties fencing, DistributedLockProperties locks, ListableBeanFactory beanFactory,
			ObjectProvider<LockObserver> observers, ObjectProvider<EngineReference> engine,
			ObjectProvider<LockSlice> slice) {
		try {
			TransactionFence fence = fence(fencing, locks, beanFactory,
					LockTransactionAutoConfiguration.ownHolds(engine.getIfAvailable()),
					LockObserver.all(observers.orderedStream().toList()));
			logger.info("Transactions of data source %s that hold a lock are fenced by the table '%s'"
				.formatted(LockDatabase.nameOf(fence.dataSource(), beanFactory), fencing.table()));
			return fence;
		}
		catch (LockConfigurationException ex) {
			boolean inSlice = slice.getIfAvailable() != null;
			requireOptional(inSlice ? null : fencing.requestedBy(), ex);
			String reason = String.valueOf(ex.getMessage());
			if (!inSlice) {
				reportUnfenced(reason, fencing, beanFactory);
			}
			return new Unfenced(reason);
		}
	}

	/** Warns if the application probably expects a fence that it does not have. */
	private static void reportUnfenced(String reason, FencingProperties fencing, ListableBeanFactory beanFactory) {
		boolean advisory = beanFactory.getBeanNamesForType(AdvisoryLockBackend.class, false, false).length > 0;
		String message = "Transactions are not fenced%s: %s"
			.formatted(advisory ? ", although locks in the mode 'advisory' end with their connections" : "", reason);
		if (advisory || (fencing.enabled() == null && LockDatabase.isAmbiguous(beanFactory))) {
			logger.warn(message);
		}
		else {
			logger.info(message);
		}
	}

	/**
	 * Transactions may go without a fence if no setting or table asks for it. A test
	 * slice has the settings of the application, but not always its data source.
	 */
	private static void requireOptional(@Nullable String requestedBy, LockConfigurationException missing) {
		if (requestedBy != null || missing instanceof FenceTable.UnusableException) {
			throw new LockConfigurationException(
					"Transactions cannot be fenced%s: %s To start without a fence, set 'distributed-lock.fencing.enabled=false'."
						.formatted(
								(requestedBy != null)
										? ", which 'distributed-lock.fencing.%s' asks for".formatted(requestedBy) : "",
								missing.getMessage()),
					missing);
		}
	}

	private static TransactionFence fence(FencingProperties fencing, DistributedLockProperties locks,
			ListableBeanFactory beanFactory, Predicate<LockHandle> own, LockObserver observer) {
		if (Boolean.FALSE.equals(fencing.enabled())) {
			throw new LockConfigurationException("'distributed-lock.fencing.enabled' is 'false'.");
		}
		DataSource dataSource = LockDatabase.dataSource(beanFactory, FenceTable.DATA_SOURCE, fencing.dataSource());
		JdbcFencingGuard guard = new JdbcFencingGuard(dataSource, fencing.table(),
				(hold) -> LockDigest.of(hold.backend() + ":" + locks.namespace(), hold.lock()));
		TransactionFence fence = new TransactionFence(guard, dataSource, (any) -> LockDatabase.nameOf(any, beanFactory),
				new MethodTransactions(beanFactory)::managerOf, own, (refusal) -> report(refusal, observer));
		new FenceTable(fencing, dataSource, () -> LockDatabase.nameOf(dataSource, beanFactory)).prepare(fence::verify,
				locks.startupTimeout());
		return fence;
	}

	private static void report(StaleFencingTokenException refusal, LockObserver observer) {
		logger.warn(refusal.getMessage());
		observer.fencingRejected(refusal.lock(), refusal.backend());
	}

	@Bean
	FencedTransactionsCheck fencedTransactionsCheck(ObjectProvider<Fence> fence, FencingProperties fencing,
			ListableBeanFactory beanFactory) {
		return new FencedTransactionsCheck(fence, fencing, beanFactory);
	}

	@Bean
	@ConditionalOnMissingBean
	FencingGuard fencingGuard(Fence fence) {
		if (fence instanceof TransactionFence transactions) {
			return transactions::advance;
		}
		return (hold) -> {
			throw unfenced("Lock '%s' cannot be fenced".formatted(hold.lock()), fence);
		};
	}

	/**
	 * Publishes the guard of the automatic fence, for transactions that Spring does not
	 * manage. Who injects a {@link FencingGuard} gets the other bean.
	 */
	@Bean
	@Lazy
	@Fallback
	@ConditionalOnMissingBean
	JdbcFencingGuard jdbcFencingGuard(Fence fence) {
		if (fence instanceof TransactionFence transactions) {
			return transactions.guard();
		}
		throw unfenced("A JdbcFencingGuard cannot be injected", fence);
	}

	private static LockConfigurationException unfenced(String fact, Fence fence) {
		String reason = fence.unfencedReason();
		return new LockConfigurationException(fact + ((reason != null) ? ", because fencing is off: " + reason
				: ", because the Fence is a bean of the application (%s). Declare a bean of the injected type as well."
					.formatted(fence.getClass().getName())));
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static Resolved<Fence> resolvedLockFence(ObjectProvider<Fence> fence) {
		return new Resolved<>(fence);
	}

	@Bean
	static TransactionListenerPostProcessor fenceListenerPostProcessor(Resolved<Fence> fence) {
		return new TransactionListenerPostProcessor(TransactionFence.listener(fence), null);
	}

	@Bean
	static FenceBeanPostProcessor fenceBeanPostProcessor(Resolved<Fence> fence) {
		return new FenceBeanPostProcessor(fence);
	}

	/**
	 * A fence that is off.
	 *
	 * @param unfencedReason the reason
	 */
	private record Unfenced(String unfencedReason) implements Fence {

		@Override
		public void beforeBody(@Nullable String requiredBy) {
			// a method that requires fencing has already failed the startup
		}

	}

}
