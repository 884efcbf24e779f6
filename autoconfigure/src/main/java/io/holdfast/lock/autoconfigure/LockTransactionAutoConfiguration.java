package io.holdfast.lock.autoconfigure;

import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.engine.LockEngine;
import io.holdfast.lock.spi.TransactionBoundary;
import io.holdfast.lock.transaction.LockCommitListener;
import io.holdfast.lock.transaction.SpringTransactionBoundary;
import io.holdfast.lock.transaction.TransactionListenerPostProcessor;

/**
 * Auto-configuration for locks around Spring transactions, if Spring's transaction
 * support is on the class path.
 */
@AutoConfiguration
@ConditionalOnClass(TransactionSynchronizationManager.class)
@ConditionalOnLocksEnabled
@EnableConfigurationProperties(DistributedLockProperties.class)
public final class LockTransactionAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean(TransactionBoundary.class)
	SpringTransactionBoundary lockTransactionBoundary(DistributedLockProperties properties,
			ObjectProvider<PlatformTransactionManager> managers) {
		return new SpringTransactionBoundary(properties.transaction().whenActive(),
				() -> managers.stream(ObjectProvider.UNFILTERED));
	}

	@Bean
	static TransactionListenerPostProcessor lockCommitListenerPostProcessor(ObjectProvider<EngineReference> engine) {
		return new TransactionListenerPostProcessor(new LockCommitListener(ownHolds(engine.getIfAvailable())),
				"its transactions commit although their lock was lost, and do not defer its release");
	}

	/** Conditional on Spring JDBC, without which there are no proxies of pools. */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(DelegatingDataSource.class)
	static class Pools {

		@Bean
		static PoolRollbackCheck lockPoolRollbackCheck() {
			return new PoolRollbackCheck();
		}

	}

	/**
	 * Returns a predicate for the holds of this application context. Holds that another
	 * context has left on the thread do not affect the transactions of this one.
	 */
	static Predicate<LockHandle> ownHolds(@Nullable EngineReference reference) {
		return (hold) -> {
			LockEngine engine = (reference != null) ? reference.find() : null;
			return engine == null || engine.owns(hold);
		};
	}

}
