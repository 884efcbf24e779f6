package io.holdfast.lock.test;

import java.time.Duration;

import io.holdfast.lock.engine.EngineSettings;

/**
 * Builds {@link EngineSettings} from the defaults and the values that a test sets.
 */
public final class EngineSettingsBuilder {

	private Duration waitTime;

	private Duration leaseTime;

	private Duration responseTimeout;

	private boolean awaitRelease;

	private boolean interruptOnLoss;

	private Duration shutdownTimeout;

	private Duration lockDelay;

	private EngineSettings.Handoff handoff;

	private Duration sticky;

	private EngineSettingsBuilder(EngineSettings settings) {
		this.waitTime = settings.waitTime();
		this.leaseTime = settings.leaseTime();
		this.responseTimeout = settings.responseTimeout();
		this.awaitRelease = settings.awaitRelease();
		this.interruptOnLoss = settings.interruptOnLoss();
		this.shutdownTimeout = settings.shutdownTimeout();
		this.lockDelay = settings.lockDelay();
		this.handoff = settings.handoff();
		this.sticky = settings.sticky();
	}

	/**
	 * Creates a builder with the default settings.
	 * @return the builder
	 */
	public static EngineSettingsBuilder settings() {
		return new EngineSettingsBuilder(EngineSettings.DEFAULTS);
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

	public EngineSettingsBuilder interruptOnLoss(boolean interruptOnLoss) {
		this.interruptOnLoss = interruptOnLoss;
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
				this.interruptOnLoss, this.shutdownTimeout, this.lockDelay, this.handoff, this.sticky);
	}

}
