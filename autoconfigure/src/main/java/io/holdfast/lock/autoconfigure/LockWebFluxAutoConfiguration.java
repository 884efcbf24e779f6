package io.holdfast.lock.autoconfigure;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication.Type;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.http.codec.ServerCodecConfigurer;
import org.springframework.web.reactive.DispatcherHandler;

import io.holdfast.lock.web.LockProblems;
import io.holdfast.lock.web.LockWebExceptionHandler;

/**
 * Auto-configuration for the answer of Spring WebFlux to exceptions of locks.
 */
@AutoConfiguration
@ConditionalOnClass(DispatcherHandler.class)
@ConditionalOnWebApplication(type = Type.REACTIVE)
@ConditionalOnLocksEnabled("web.enabled")
@EnableConfigurationProperties(LockWebProperties.class)
public final class LockWebFluxAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	LockWebExceptionHandler lockWebExceptionHandler(LockWebProperties web, ServerCodecConfigurer codecs) {
		return new LockWebExceptionHandler(new LockProblems(web.status(), web.retryAfter()), codecs.getWriters());
	}

}
