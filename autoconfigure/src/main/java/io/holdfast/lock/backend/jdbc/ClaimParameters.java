package io.holdfast.lock.backend.jdbc;

import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.namedparam.SqlParameterSource;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.LockDigest;

/**
 * The parameters of all statements for one claim or grant. A value is only computed for a
 * statement that contains it.
 *
 * @param claim the claim
 * @param id the identity of its lock in the table
 * @param token the token of the grant, or zero
 * @param waitedMicros how long the claim has waited
 * @param reserveMicros how long a release keeps the lock for a waiter
 */
record ClaimParameters(Claim claim, String id, long token, long waitedMicros,
		long reserveMicros) implements SqlParameterSource {

	private static final int NAME_LENGTH = 255;

	/**
	 * How long a waiting writer blocks new readers: several polls, each of which extends
	 * this time.
	 */
	private static final long WRITER_MARK_MICROS = TimeUnit.SECONDS.toMicros(1);

	/**
	 * How long releases consider a claim that waits: several polls, each of which extends
	 * this time.
	 */
	private static final long WAITER_MARK_MICROS = TimeUnit.SECONDS.toMicros(5);

	ClaimParameters withToken(long granted) {
		return new ClaimParameters(this.claim, this.id, granted, this.waitedMicros, this.reserveMicros);
	}

	@Override
	public boolean hasValue(String name) {
		return value(name) != null;
	}

	@Override
	public Object getValue(String name) {
		Object value = value(name);
		if (value == null) {
			throw new IllegalArgumentException("A claim has no parameter '" + name + "'.");
		}
		return value;
	}

	private @Nullable Object value(String name) {
		return switch (name) {
			case "id" -> this.id;
			case "name" -> LockDigest.readable(this.claim.lock(), NAME_LENGTH);
			case "owner" -> this.claim.owner().value();
			case "lease" -> TimeUnit.NANOSECONDS.toMicros(this.claim.leaseTime().toNanos());
			case "mark" -> WRITER_MARK_MICROS;
			case "token" -> this.token;
			case "await" -> WAITER_MARK_MICROS;
			case "writes" -> (this.claim.mode() == LockMode.EXCLUSIVE) ? 1 : 0;
			case "waited" -> this.waitedMicros;
			case "reserve" -> this.reserveMicros;
			default -> null;
		};
	}

}
