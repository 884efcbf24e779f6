package io.holdfast.verification.benchmark;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.util.StringUtils;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;

/**
 * The locks of this library, in an application with its auto-configuration.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import(HoldfastContender.Annotated.class)
class HoldfastContender {

	static Contender start(Library library, String... arguments) {
		ConfigurableApplicationContext context = application(switch (library) {
			case HOLDFAST_LETTUCE -> StringUtils.concatenateStringArrays(arguments, new String[] {
					"--distributed-lock.redis.client=lettuce", "--distributed-lock.redlock.client=lettuce" });
			case HOLDFAST_STICKY -> StringUtils.addStringToArray(arguments, "--distributed-lock.sticky=500ms");
			case HOLDFAST_ADVISORY -> StringUtils.concatenateStringArrays(arguments, new String[] {
					"--distributed-lock.jdbc.mode=advisory", "--distributed-lock.jdbc.advisory.max-connections=20" });
			default -> arguments;
		});
		if (library == Library.HOLDFAST_ANNOTATION) {
			Annotated bean = context.getBean(Annotated.class);
			return bean::locked;
		}
		LockOperations locks = context.getBean(LockOperations.class);
		return (key, section) -> locks.execute(LockRequest.of("benchmark", key), (handle) -> {
			section.run();
			return null;
		});
	}

	/** Starts an application with these locks, which the caller must close. */
	static ConfigurableApplicationContext application(String... arguments) {
		return new SpringApplicationBuilder(HoldfastContender.class).web(WebApplicationType.NONE).run(arguments);
	}

	/** A bean as an application would write it. */
	static class Annotated {

		@DistributedLock(name = "annotated", key = "#key")
		public void locked(String key, Runnable section) {
			section.run();
		}

	}

}
