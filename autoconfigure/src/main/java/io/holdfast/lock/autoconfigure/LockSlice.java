package io.holdfast.lock.autoconfigure;

import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.context.annotation.Configuration;

/**
 * What a test slice needs of locks: everything but the stores. As a bean, it says that
 * the application context is a slice, and that the settings of stores do not count.
 */
@Configuration(proxyBeanMethods = false)
@ImportAutoConfiguration({ DistributedLockAutoConfiguration.class, LocalLockAutoConfiguration.class,
		LockInterceptorAutoConfiguration.class, LockTransactionAutoConfiguration.class, FencingAutoConfiguration.class,
		LocksDisabledAutoConfiguration.class })
class LockSlice {

}
