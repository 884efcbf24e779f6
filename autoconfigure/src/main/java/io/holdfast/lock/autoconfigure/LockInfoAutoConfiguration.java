package io.holdfast.lock.autoconfigure;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.info.ConditionalOnEnabledInfoContributor;
import org.springframework.boot.actuate.info.InfoContributor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

import io.holdfast.lock.actuate.LockInfoContributor;
import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.engine.LockEngine;
import io.holdfast.lock.fencing.Fence;

/**
 * Auto-configuration for the locks in the application's info.
 */
@AutoConfiguration(after = { DistributedLockAutoConfiguration.class, FencingAutoConfiguration.class })
@ConditionalOnClass({ InfoContributor.class, ConditionalOnEnabledInfoContributor.class })
@ConditionalOnLocksEnabled
@ConditionalOnEnabledInfoContributor("distributedlocks")
@ConditionalOnBean(LockEngine.class)
public final class LockInfoAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	LockInfoContributor distributedLocksInfoContributor(LockBackends backends, DistributedLockProperties locks,
			ObjectProvider<Fence> fences) {
		Fence fence = fences.getIfAvailable();
		return new LockInfoContributor(backends, locks.waitTime(), locks.leaseTime(), locks.sticky(),
				(fence != null) ? fence.unfencedReason() == null : null);
	}

}
