package io.holdfast.lock.autoconfigure;

import java.util.function.BooleanSupplier;

import org.springframework.context.SmartLifecycle;
import org.springframework.scheduling.concurrent.ExecutorConfigurationSupport;

import io.holdfast.lock.engine.LockEngine;

/**
 * Closes the engine while its context closes. The web server drains its requests before
 * that, and Spring's executors and schedulers complete the tasks that they wait for,
 * because these may still acquire and hold locks. The beans whose clients the stores need
 * are destroyed after it. A context that is only stopped or paused, such as a cached one
 * between two test classes, keeps its engine: it may be started again.
 */
final class LockEngineLifecycle implements SmartLifecycle {

	/**
	 * The lifecycle phase. Lower phases stop later. The web server drains just below the
	 * highest phase. Executors stop at half of it, and clients of stores at zero.
	 */
	static final int PHASE = ExecutorConfigurationSupport.DEFAULT_PHASE - 1024;

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
