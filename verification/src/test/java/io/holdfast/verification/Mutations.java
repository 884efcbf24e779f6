package io.holdfast.verification;

import java.util.function.UnaryOperator;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerResponse;

import io.holdfast.lock.spi.LockBackend;

/**
 * Lets a test break an application while it runs. All defects of one application are
 * tested in the same processes, because a start needs more processor time than a test.
 */
@Configuration(proxyBeanMethods = false)
@Import({ UncheckedCommits.class, EarlyReleases.class, RepeatedTokens.class })
class Mutations {

	/** The path to which a test sends the name of a mutation. */
	static final String PATH = "/mutation/";

	@Bean
	RouterFunction<ServerResponse> mutation() {
		return RouterFunctions.route().PUT(PATH + "{name}", (request) -> {
			Mutation.valueOf(request.pathVariable("name")).activate();
			return ServerResponse.ok().build();
		}).build();
	}

	/** Returns a post-processor that replaces each backend of an application. */
	static BeanPostProcessor ofBackends(UnaryOperator<LockBackend> change) {
		return new BeanPostProcessor() {

			@Override
			public Object postProcessAfterInitialization(Object bean, String beanName) {
				return (bean instanceof LockBackend store) ? change.apply(store) : bean;
			}

		};
	}

}
