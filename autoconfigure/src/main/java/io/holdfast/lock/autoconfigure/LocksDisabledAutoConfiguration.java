package io.holdfast.lock.autoconfigure;

import java.util.List;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.interceptor.UnlockedBeans;

/**
 * Auto-configuration that reports which beans run without their locks if locks are
 * disabled.
 */
@AutoConfiguration
@Conditional(OnLocksEnabledCondition.Negated.class)
public final class LocksDisabledAutoConfiguration {

	private static final Log logger = LogFactory.getLog(LocksDisabledAutoConfiguration.class);

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static SmartInitializingSingleton unlockedBeansReport(ConfigurableListableBeanFactory beanFactory,
			Environment environment) {
		return () -> {
			requireStillDisabled(environment);
			List<String> unlocked = new UnlockedBeans(beanFactory).annotated();
			if (!unlocked.isEmpty()) {
				logger.warn(
						"Locks are disabled by 'distributed-lock.enabled=false', so the @DistributedLock methods of %s beans run without their locks and their fences: %s. Use 'distributed-lock.backend=local' to lock within this JVM instead."
							.formatted(unlocked.size(), unlocked));
			}
		};
	}

	/** Conditions of an application that was processed ahead of time are not repeated. */
	private static void requireStillDisabled(Environment environment) {
		if (OnLocksEnabledCondition.areLocksEnabled(environment)) {
			throw new LockConfigurationException(
					"Locks are enabled, but were disabled by 'distributed-lock.enabled=false' when this application was processed ahead of time, and conditions are not evaluated again, so all methods would run without their locks. Remove this setting from the build, or set it for the start as well.");
		}
	}

}
