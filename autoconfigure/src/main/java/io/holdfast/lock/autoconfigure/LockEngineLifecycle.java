package io.holdfast.lock.autoconfigure;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.SmartLifecycle;

import io.holdfast.lock.engine.LockEngine;

/**
 * Ends the engine at the right moment of a shutdown: after the web server has drained its
 * requests, which may still acquire and hold locks while they finish, and before the
 * beans are destroyed whose clients the stores need.
 */
final class LockEngineLifecycle implements SmartLifecycle {

	/**
	 * The web server drains 1024 and stops 2048 below the default phase; lower phases
	 * stop later.
	 */
	static final int PHASE = SmartLifecycle.DEFAULT_PHASE - 4096;

	private final ConfigurableListableBeanFactory beanFactory;

	private volatile boolean running;

	LockEngineLifecycle(ConfigurableListableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	@Override
	public void start() {
		this.running = true;
	}

	/** Closes an engine of this context, not of its parent, and creates none for it. */
	@Override
	public void stop() {
		this.running = false;
		for (String name : this.beanFactory.getBeanNamesForType(LockEngine.class, false, false)) {
			if (this.beanFactory.getSingleton(name) instanceof LockEngine engine) {
				engine.close();
			}
		}
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

	@Override
	public int getPhase() {
		return PHASE;
	}

}
