package io.holdfast.lock.engine;

import java.time.Duration;

/**
 * The sequential specification of a hold, for {@link HoldModel}.
 */
public class SequentialHold {

	private final boolean[] entered = new boolean[HoldModel.THREADS];

	private boolean outerOpen = true;

	private boolean lost;

	private Duration now = Duration.ZERO;

	private Duration validUntil = HoldModel.VALIDITY;

	private Duration nextRenewal = HoldModel.INTERVAL;

	public boolean enter(int thread) {
		if (this.entered[thread] || !commit()) {
			return false;
		}
		this.entered[thread] = true;
		return true;
	}

	public void leave(int thread) {
		this.entered[thread] = false;
	}

	public void leaveOuter() {
		this.outerOpen = false;
	}

	public boolean held(int thread) {
		return valid() && (this.entered[thread] || this.outerOpen);
	}

	public boolean commit() {
		return valid() && this.outerOpen;
	}

	private boolean valid() {
		return !this.lost && this.now.compareTo(this.validUntil) < 0;
	}

	public void listen() {
	}

	public void renewed() {
		timePasses(HoldModel.Answer.RENEWED);
	}

	public void refused() {
		timePasses(HoldModel.Answer.REFUSED);
	}

	public void notAnswered() {
		timePasses(HoldModel.Answer.UNKNOWN);
	}

	private void timePasses(HoldModel.Answer answer) {
		Duration until = this.now.plus(HoldModel.INTERVAL);
		while (inUse() && !this.lost && nextCheck().compareTo(until) <= 0) {
			this.now = later(this.now, nextCheck());
			if (!valid() || answer == HoldModel.Answer.REFUSED) {
				this.lost = true;
			}
			else if (answer == HoldModel.Answer.RENEWED) {
				this.validUntil = this.now.plus(HoldModel.VALIDITY);
				this.nextRenewal = this.now.plus(HoldModel.INTERVAL);
			}
			else {
				this.nextRenewal = this.now.plus(HoldModel.INTERVAL.dividedBy(4));
			}
		}
		this.now = later(this.now, until);
	}

	private Duration nextCheck() {
		return (this.nextRenewal.compareTo(this.validUntil) < 0) ? this.nextRenewal : this.validUntil;
	}

	private static Duration later(Duration one, Duration other) {
		return (one.compareTo(other) < 0) ? other : one;
	}

	public void pause() {
		this.now = this.now.plus(HoldModel.PAUSE);
	}

	public void revoke() {
		this.lost |= inUse();
	}

	private boolean inUse() {
		boolean used = this.outerOpen;
		for (boolean one : this.entered) {
			used |= one;
		}
		return used;
	}

}
