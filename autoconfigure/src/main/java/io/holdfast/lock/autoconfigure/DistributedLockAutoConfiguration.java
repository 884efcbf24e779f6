package io.holdfast.lock.autoconfigure;

import java.time.Duration;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.engine.EngineSettings;
import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.engine.LockEngine;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.TransactionBoundary;
import io.holdfast.lock.spi.observation.LockObserver;
import io.holdfast.lock.support.DurationText;

/**
 * Auto-configuration for the lock engine, with the backends of all configured stores.
 */
@AutoConfiguration
@ConditionalOnLocksEnabled
@EnableConfigurationProperties(DistributedLockProperties.class)
public final class DistributedLockAutoConfiguration {

	private static final Log logger = LogFactory.getLog(DistributedLockAutoConfiguration.class);

	@Bean
	StartupChecks lockStartupChecks(Environment environment, DistributedLockProperties properties) {
		return new StartupChecks(environment, properties);
	}

	@Bean
	@ConditionalOnMissingBean
	LockBackends lockBackends(ObjectProvider<LockBackend> backends, Environment environment,
			ConfigurableListableBeanFactory beanFactory, DistributedLockProperties properties,
			ObjectProvider<LockSlice> slice) {
		SettingsCheck settings = new SettingsCheck(environment, beanFactory.getBeanClassLoader());
		settings.run();
		boolean inSlice = slice.getIfAvailable() != null;
		if (!inSlice) {
			settings.requireFencingSupport();
			BackendSelection.requireOneDefault(environment, beanFactory);
		}
		BackendSelection selection = new BackendSelection(backends.orderedStream().toList(), environment, beanFactory,
				properties.namespace());
		return inSlice ? selection.selectForSlice() : selection.select();
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static EngineReference lockEngineReference(ObjectProvider<LockOperations> operations) {
		return new EngineReference(operations);
	}

	@Bean
	@ConditionalOnMissingBean(LockOperations.class)
	LockEngine lockEngine(LockBackends backends, DistributedLockProperties properties,
			ObjectProvider<TransactionBoundary> boundaries, ObjectProvider<LockObserver> observers) {
		EngineSettings settings = new EngineSettings(properties.waitTime(), properties.leaseTime(),
				properties.responseTimeout(), properties.awaitRelease(), properties.interruptOnLoss(),
				properties.shutdownTimeout(), properties.lockDelay(),
				new EngineSettings.Handoff(properties.handoff().maxHolds(), properties.handoff().maxTime()),
				properties.sticky());
		if (!settings.sticky().isZero()) {
			backends.requireDemand("The property 'distributed-lock.sticky'");
			warnOfShortLease(settings);
		}
		backends.requireSupport(null, LockMode.EXCLUSIVE, false, properties.leaseTime(),
				() -> "The property 'distributed-lock.lease-time'");
		TransactionBoundary boundary = boundaries.getIfAvailable(() -> TransactionBoundary.NONE);
		return new LockEngine(backends, settings, properties.watchLockOrder() ? new LockOrderWatch(boundary) : boundary,
				observers.orderedStream().toList());
	}

	/** An idle lease is not renewed, so it stays for half of its validity at most. */
	private static void warnOfShortLease(EngineSettings settings) {
		Duration longest = settings.leaseTime().dividedBy(2);
		if (settings.sticky().compareTo(longest) > 0) {
			logger.warn(
					"The property 'distributed-lock.sticky' is %s, but a lease of %s ('distributed-lock.lease-time') stays for %s at most. Set it to a shorter time, or set a longer lease."
						.formatted(DurationText.of(settings.sticky()), DurationText.of(settings.leaseTime()),
								DurationText.of(longest)));
		}
	}

	@Bean
	LockEventPublisher lockEventPublisher(ApplicationEventPublisher publisher) {
		return new LockEventPublisher(publisher);
	}

	@Bean
	LockEngineLifecycle lockEngineLifecycle(EngineReference engine, ConfigurableApplicationContext context) {
		return new LockEngineLifecycle(engine, context::isClosed);
	}

	/**
	 * Warns of settings of a child context that have no effect, because it uses the
	 * engine of its parent.
	 */
	@Bean
	SmartInitializingSingleton inheritedLocksReport(ApplicationContext context, DistributedLockProperties own) {
		return () -> {
			ApplicationContext parent = context.getParent();
			DistributedLockProperties inherited = (parent != null)
					? parent.getBeanProvider(DistributedLockProperties.class).getIfAvailable() : null;
			if (inherited != null && !inherited.equals(own)
					&& context.getBeanNamesForType(LockOperations.class, true, false).length == 0) {
				logger.warn(
						"The application context '%s' uses the locks of its parent. Its settings 'distributed-lock.*' differ from those of the parent and have no effect. Set them in the parent context, or exclude DistributedLockAutoConfiguration from the parent."
							.formatted(context.getId()));
			}
		};
	}

}
