package io.holdfast.lock.autoconfigure;

import org.slf4j.MDC;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.context.annotation.Bean;

import io.holdfast.lock.observation.MdcLockObserver;

/**
 * Auto-configuration for the lock in the logging context, if a property enables it.
 */
@AutoConfiguration
@ConditionalOnClass(MDC.class)
@ConditionalOnLocksEnabled
@EnableConfigurationProperties(LockLoggingAutoConfiguration.Properties.class)
public final class LockLoggingAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	@ConditionalOnLocksEnabled(value = "logging.mdc", matchIfMissing = false)
	MdcLockObserver mdcLockObserver() {
		return new MdcLockObserver();
	}

	/**
	 * Settings of the logging context.
	 *
	 * @param mdc Whether to put the lock and its fencing token into the logging context
	 * (MDC) of a thread while it runs a locked method or action, as 'lock' and
	 * 'lockToken'.
	 */
	@ConfigurationProperties("distributed-lock.logging")
	record Properties(@DefaultValue("false") boolean mdc) {

	}

}
