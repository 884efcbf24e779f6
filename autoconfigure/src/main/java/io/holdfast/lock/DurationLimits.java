package io.holdfast.lock;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

/**
 * Validates the durations of a request.
 *
 * @param lock the lock that messages name
 */
record DurationLimits(LockName lock) {

	void require(String what, @Nullable Duration value, Duration least) {
		if (value != null && (value.compareTo(least) < 0 || value.compareTo(LockRequest.MAX_DURATION) > 0)) {
			throw new LockConfigurationException("The %s of lock '%s' is %s. Set it between %s and %s.".formatted(what,
					this.lock, text(value), text(least), text(LockRequest.MAX_DURATION)));
		}
	}

	void requireNoContradiction(@Nullable Duration leaseTime, @Nullable Duration maxHold, Duration minHold) {
		if (maxHold == null) {
			return;
		}
		if (leaseTime != null && maxHold.compareTo(leaseTime) < 0) {
			throw new LockConfigurationException(
					"The maxHold of lock '%s' is %s, but its leaseTime is %s. maxHold only stops the renewal, so the store would still keep the lock for the whole leaseTime. Set leaseTime to at most %s."
						.formatted(this.lock, text(maxHold), text(leaseTime), text(maxHold)));
		}
		if (maxHold.compareTo(minHold) < 0) {
			throw new LockConfigurationException(
					"The maxHold of lock '%s' is %s, but its minHold is %s. Without renewal, the lock does not stay closed that long. Set minHold to at most %s."
						.formatted(this.lock, text(maxHold), text(minHold), text(maxHold)));
		}
	}

	void requireLeaseFor(Duration minHold, @Nullable Duration leaseTime) {
		if (leaseTime != null && minHold.compareTo(leaseTime) > 0) {
			throw new LockConfigurationException(
					"The minHold of lock '%s' is %s, but its leaseTime is %s and is not renewed. The lock would be free when the lease expires. Set leaseTime to at least %s, or let it be renewed."
						.formatted(this.lock, text(minHold), text(leaseTime), text(minHold)));
		}
	}

	private static String text(Duration duration) {
		return DurationFormatterUtils.print(duration, DurationFormat.Style.COMPOSITE);
	}

}
