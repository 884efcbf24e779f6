package io.holdfast.lock.autoconfigure;

import org.springframework.beans.factory.ObjectProvider;
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

	private final ObjectProvider<LockEngine> engine;

	private volatile boolean running;

	LockEngineLifecycle(ObjectProvider<LockEngine> engine) {
		this.engine = engine;
	}

	@Override
	public void start() {
		this.running = true;
	}

	@Override
	public void stop() {
		this.running = false;
		this.engine.ifAvailable(LockEngine::close);
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
