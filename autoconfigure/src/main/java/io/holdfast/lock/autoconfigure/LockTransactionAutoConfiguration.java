package io.holdfast.lock.autoconfigure;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.holdfast.lock.HoldBoundary;
import io.holdfast.lock.transaction.LockCommitListener;
import io.holdfast.lock.transaction.TransactionHoldBoundary;
import io.holdfast.lock.transaction.TransactionListenerPostProcessor;

/**
 * Lets locks know of the application's transactions, if it has any.
 */
@AutoConfiguration
@ConditionalOnClass(TransactionSynchronizationManager.class)
@ConditionalOnBooleanProperty(name = "distributed-lock.enabled", matchIfMissing = true)
@EnableConfigurationProperties(DistributedLockProperties.class)
public final class LockTransactionAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean(HoldBoundary.class)
	TransactionHoldBoundary transactionHoldBoundary(DistributedLockProperties properties) {
		return new TransactionHoldBoundary(properties.transaction().whenActive());
	}

	@Bean
	static TransactionListenerPostProcessor lockCommitListenerPostProcessor() {
		return new TransactionListenerPostProcessor(new LockCommitListener());
	}

}
