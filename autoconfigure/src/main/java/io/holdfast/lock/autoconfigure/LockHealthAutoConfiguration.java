package io.holdfast.lock.autoconfigure;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.CompositeHealthContributor;
import org.springframework.context.annotation.Bean;

import io.holdfast.lock.actuate.LockHealthContributor;
import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.engine.LockEngine;
import io.holdfast.lock.engine.StoreChecks;

/**
 * Auto-configuration for the health of the stores that keep locks.
 */
@AutoConfiguration(after = DistributedLockAutoConfiguration.class,
		beforeName = "org.springframework.boot.health.autoconfigure.contributor.HealthContributorAutoConfiguration")
@ConditionalOnClass({ CompositeHealthContributor.class, ConditionalOnEnabledHealthIndicator.class })
@ConditionalOnLocksEnabled
@ConditionalOnEnabledHealthIndicator("distributedlocks")
@ConditionalOnBean(LockEngine.class)
@EnableConfigurationProperties(LockHealthProperties.class)
public final class LockHealthAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean(name = { "distributedLocksHealthContributor", "distributedLocksHealthIndicator" })
	LockHealthContributor distributedLocksHealthContributor(LockBackends backends, LockHealthProperties health) {
		return new LockHealthContributor(new StoreChecks(backends), health.timeout());
	}

}
