package io.holdfast.lock.autoconfigure;

import java.util.function.BooleanSupplier;

import org.springframework.context.SmartLifecycle;

import io.holdfast.lock.engine.LockEngine;

/**
 * Closes the engine while its context closes. The web server drains its requests before
 * that, because they may still acquire and hold locks. The beans whose clients the stores
 * need are destroyed after it. A context that is only stopped or paused, such as a cached
 * one between two test classes, keeps its engine: it may be started again.
 */
final class LockEngineLifecycle implements SmartLifecycle {

	/**
	 * The lifecycle phase. The web server drains at 1024 and stops at 2048 below the
	 * default phase, and lower phases stop later.
	 */
	static final int PHASE = SmartLifecycle.DEFAULT_PHASE - 4096;

	private final EngineReference engine;

	private final BooleanSupplier closing;

	private volatile boolean running;

	/**
	 * Creates the lifecycle.
	 * @param closing whether the context is closing
	 */
	LockEngineLifecycle(EngineReference engine, BooleanSupplier closing) {
		this.engine = engine;
		this.closing = closing;
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
		if (this.closing.getAsBoolean()) {
			this.running = false;
			this.engine.created().forEach(LockEngine::close);
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
