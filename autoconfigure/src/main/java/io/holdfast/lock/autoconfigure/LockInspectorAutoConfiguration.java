package io.holdfast.lock.autoconfigure;

import java.util.List;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;

import io.holdfast.lock.HeldLock;
import io.holdfast.lock.LockInspector;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockState;
import io.holdfast.lock.WaitingAcquisition;
import io.holdfast.lock.engine.EngineInspector;
import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.engine.LockEngine;

/**
 * Auto-configuration for the inspector of locks.
 */
@AutoConfiguration(after = DistributedLockAutoConfiguration.class)
@ConditionalOnLocksEnabled
@ConditionalOnBean(LockEngine.class)
public final class LockInspectorAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean(LockInspector.class)
	LockInspector lockInspector(EngineReference engine, LockBackends backends, ApplicationEventPublisher publisher) {
		return engine.isReplaced() ? new NoLocks(backends)
				: new EngineInspector(engine.get(), backends, publisher::publishEvent);
	}

	/**
	 * Inspects the mock that a test has in place of the engine, which holds no locks.
	 *
	 * @param backends the backends, for the name of the default one
	 */
	private record NoLocks(LockBackends backends) implements LockInspector {

		@Override
		public List<HeldLock> held() {
			return List.of();
		}

		@Override
		public List<WaitingAcquisition> waiting() {
			return List.of();
		}

		@Override
		public LockState find(LockName lock, @Nullable String backend) {
			return new LockState(lock, this.backends.get(backend).name(), List.of(), 0);
		}

		@Override
		public List<LockState.Holder> forceRelease(LockName lock, @Nullable String backend,
				Predicate<? super LockState.Holder> onlyIf) {
			return List.of();
		}

	}

}
