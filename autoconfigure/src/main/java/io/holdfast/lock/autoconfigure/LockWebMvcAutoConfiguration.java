package io.holdfast.lock.autoconfigure;

import java.util.List;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication.Type;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerAdapter;

import io.holdfast.lock.web.LockExceptionResolver;
import io.holdfast.lock.web.LockProblems;

/**
 * Auto-configuration for the answer of Spring MVC to exceptions of locks.
 */
@AutoConfiguration
@ConditionalOnClass(DispatcherServlet.class)
@ConditionalOnWebApplication(type = Type.SERVLET)
@ConditionalOnLocksEnabled("web.enabled")
@EnableConfigurationProperties(LockWebProperties.class)
public final class LockWebMvcAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	LockExceptionResolver lockExceptionResolver(LockWebProperties web,
			ObjectProvider<RequestMappingHandlerAdapter> adapters) {
		return new LockExceptionResolver(new LockProblems(web.status(), web.retryAfter()),
				() -> adapters.stream()
					.findFirst()
					.map(RequestMappingHandlerAdapter::getMessageConverters)
					.orElseGet(List::of));
	}

}
