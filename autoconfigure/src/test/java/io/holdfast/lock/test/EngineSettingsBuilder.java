package io.holdfast.lock.test;

import java.time.Duration;

import io.holdfast.lock.engine.EngineSettings;

/**
 * Builds {@link EngineSettings} from the defaults and the values that a test sets.
 */
public final class EngineSettingsBuilder {

	private Duration waitTime = EngineSettings.DEFAULTS.waitTime();

	private Duration leaseTime = EngineSettings.DEFAULTS.leaseTime();

	private Duration responseTimeout = EngineSettings.DEFAULTS.responseTimeout();

	private boolean awaitRelease = EngineSettings.DEFAULTS.awaitRelease();

	private Duration shutdownTimeout = EngineSettings.DEFAULTS.shutdownTimeout();

	private Duration lockDelay = EngineSettings.DEFAULTS.lockDelay();

	private EngineSettings.Handoff handoff = EngineSettings.DEFAULTS.handoff();

	private Duration sticky = EngineSettings.DEFAULTS.sticky();

	private EngineSettingsBuilder() {
	}

	/**
	 * Creates a builder with the default settings.
	 * @return the builder
	 */
	public static EngineSettingsBuilder settings() {
		return new EngineSettingsBuilder();
	}

	public EngineSettingsBuilder waitTime(Duration waitTime) {
		this.waitTime = waitTime;
		return this;
	}

	public EngineSettingsBuilder leaseTime(Duration leaseTime) {
		this.leaseTime = leaseTime;
		return this;
	}

	public EngineSettingsBuilder responseTimeout(Duration responseTimeout) {
		this.responseTimeout = responseTimeout;
		return this;
	}

	public EngineSettingsBuilder awaitRelease(boolean awaitRelease) {
		this.awaitRelease = awaitRelease;
		return this;
	}

	public EngineSettingsBuilder shutdownTimeout(Duration shutdownTimeout) {
		this.shutdownTimeout = shutdownTimeout;
		return this;
	}

	public EngineSettingsBuilder lockDelay(Duration lockDelay) {
		this.lockDelay = lockDelay;
		return this;
	}

	public EngineSettingsBuilder handoff(int maxHolds, Duration maxTime) {
		this.handoff = new EngineSettings.Handoff(maxHolds, maxTime);
		return this;
	}

	public EngineSettingsBuilder sticky(Duration sticky) {
		this.sticky = sticky;
		return this;
	}

	public EngineSettings build() {
		return new EngineSettings(this.waitTime, this.leaseTime, this.responseTimeout, this.awaitRelease,
				EngineSettings.DEFAULTS.interruptOnLoss(), this.shutdownTimeout, this.lockDelay, this.handoff,
				this.sticky);
	}

}
