package io.holdfast.lock.autoconfigure;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

import io.holdfast.lock.backend.local.LocalLockBackend;

/**
 * Auto-configuration for the backend of this JVM. It is always present, so that
 * individual locks can use it beside another store.
 */
@AutoConfiguration
@ConditionalOnLocksEnabled
public final class LocalLockAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	LocalLockBackend localLockBackend() {
		return new LocalLockBackend();
	}

}
