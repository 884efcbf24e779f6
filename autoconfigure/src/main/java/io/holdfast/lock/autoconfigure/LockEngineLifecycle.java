package io.holdfast.lock.autoconfigure;

import org.springframework.context.SmartLifecycle;

import io.holdfast.lock.engine.LockEngine;

/**
 * Closes the engine during shutdown. The web server drains its requests before that,
 * because they may still acquire and hold locks. The beans whose clients the stores need
 * are destroyed after it.
 */
final class LockEngineLifecycle implements SmartLifecycle {

	/**
	 * The lifecycle phase. The web server drains at 1024 and stops at 2048 below the
	 * default phase, and lower phases stop later.
	 */
	static final int PHASE = SmartLifecycle.DEFAULT_PHASE - 4096;

	private final EngineReference engine;

	private volatile boolean running;

	LockEngineLifecycle(EngineReference engine) {
		this.engine = engine;
	}

	@Override
	public void start() {
		this.running = true;
	}

	/**
	 * Closes the engine of this context, but not of its parent. Never creates an engine.
	 */
	@Override
	public void stop() {
		this.running = false;
		this.engine.created().forEach(LockEngine::close);
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
