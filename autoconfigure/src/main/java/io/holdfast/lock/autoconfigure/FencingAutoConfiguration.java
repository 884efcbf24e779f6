package io.holdfast.lock.autoconfigure;

import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;

import javax.sql.DataSource;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
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
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.BadSqlGrammarException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.holdfast.lock.LockBackendException;
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
import io.holdfast.lock.support.Failures;
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

	private static final Log logger = LogFactory.getLog(FencingAutoConfiguration.class);

	/** SQL states of a denied right in PostgreSQL and H2, and of a read-only database. */
	private static final Set<String> DENIALS = Set.of("42501", "90096", "25006");

	private static final String DATA_SOURCE = "distributed-lock.fencing.data-source";

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
			logger.info("Transactions that hold a lock are fenced by the table '%s'".formatted(fencing.table()));
			return fence;
		}
		catch (LockConfigurationException ex) {
			requireOptional(fencing, ex);
			String reason = String.valueOf(ex.getMessage());
			if (slice.getIfAvailable() == null) {
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

	/** Transactions may go without a fence if no setting or table asks for it. */
	private static void requireOptional(FencingProperties fencing, LockConfigurationException missing) {
		String requestedBy = fencing.requestedBy();
		if (requestedBy != null || isDenied(missing)) {
			throw new LockConfigurationException("Transactions cannot be fenced%s: %s %s".formatted(
					(requestedBy != null) ? ", which 'distributed-lock.fencing.%s' asks for".formatted(requestedBy)
							: "",
					missing.getMessage(), "To start without a fence, set 'distributed-lock.fencing.enabled=false'."),
					missing);
		}
	}

	private static TransactionFence fence(FencingProperties fencing, DistributedLockProperties locks,
			ListableBeanFactory beanFactory, Predicate<LockHandle> own, LockObserver observer) {
		if (Boolean.FALSE.equals(fencing.enabled())) {
			throw new LockConfigurationException("'distributed-lock.fencing.enabled' is 'false'.");
		}
		DataSource dataSource = LockDatabase.dataSource(beanFactory, DATA_SOURCE, fencing.dataSource());
		JdbcFencingGuard guard = new JdbcFencingGuard(dataSource, fencing.table(),
				(hold) -> LockDigest.of(hold.backend() + ":" + locks.namespace(), hold.lock()));
		TransactionFence fence = new TransactionFence(guard, dataSource, (any) -> LockDatabase.nameOf(any, beanFactory),
				new MethodTransactions(beanFactory)::managerOf, own, (refusal) -> report(refusal, observer));
		prepare(() -> {
			LockDatabase.initialize(dataSource, fencing.initializeSchema(), JdbcFencingGuard.schema(fencing.table()),
					"distributed-lock.fencing.initialize-schema", fence::verify);
			fence.verify();
		}, locks.startupTimeout(), fencing, () -> LockDatabase.nameOf(dataSource, beanFactory));
		return fence;
	}

	/**
	 * Initializes and verifies the table in bounded time, however long the connection
	 * pool waits.
	 */
	private static void prepare(Runnable attempt, Duration timeout, FencingProperties fencing,
			Supplier<String> dataSource) {
		try {
			StartupCheck.of("the fence table", timeout, List.of()).attempt(attempt);
		}
		catch (BadSqlGrammarException ex) {
			requireAllowed(ex, fencing, dataSource);
			throw new LockConfigurationException(
					"the table '%s' does not exist or cannot be read in data source %s. Create it in a migration with the script 'io/holdfast/lock/fencing/schema.sql' of this library, set 'distributed-lock.fencing.initialize-schema=always', or correct 'distributed-lock.fencing.table' or '%s'."
						.formatted(fencing.table(), dataSource.get(), DATA_SOURCE),
					ex);
		}
		catch (DataAccessException | LockBackendException ex) {
			requireAllowed(ex, fencing, dataSource);
			logger.warn("The fence table '%s' could not be checked and is therefore assumed to exist"
				.formatted(fencing.table()), ex);
		}
	}

	private static void requireAllowed(RuntimeException ex, FencingProperties fencing, Supplier<String> dataSource) {
		if (isDenied(ex)) {
			throw new LockConfigurationException(
					"the user of data source %s may not read and write the table '%s' (%s). Grant it SELECT, INSERT and UPDATE."
						.formatted(dataSource.get(), fencing.table(), Failures.rootMessage(ex)),
					ex);
		}
	}

	/** Whether the database has the table, but does not let this user change it. */
	private static boolean isDenied(Throwable failure) {
		return Failures.causes(failure)
			.anyMatch((cause) -> cause instanceof SQLException sql && DENIALS.contains(sql.getSQLState()));
	}

	private static void report(StaleFencingTokenException refusal, LockObserver observer) {
		logger.warn(refusal.getMessage());
		observer.fencingRejected(refusal.lock(), refusal.backend());
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
