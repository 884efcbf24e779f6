package io.holdfast.lock.autoconfigure;

import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.context.annotation.Configuration;

/**
 * Configuration of locks in a test slice: everything except the backends of remote
 * stores. As a bean, it marks the application context as a slice, in which the settings
 * of stores are ignored.
 */
@Configuration(proxyBeanMethods = false)
@ImportAutoConfiguration({ DistributedLockAutoConfiguration.class, LocalLockAutoConfiguration.class,
		LockInspectorAutoConfiguration.class, LockInterceptorAutoConfiguration.class,
		LockTransactionAutoConfiguration.class, FencingAutoConfiguration.class, LockWebMvcAutoConfiguration.class,
		LockWebFluxAutoConfiguration.class, LocksDisabledAutoConfiguration.class })
class LockSlice {

}
