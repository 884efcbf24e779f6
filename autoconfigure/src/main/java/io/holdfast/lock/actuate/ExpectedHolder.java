package io.holdfast.lock.actuate;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockName;
import io.holdfast.lock.LockState;

/**
 * The holder from which a lock is to be released, as an operator has seen it. An empty
 * text accepts no holder: it is likely a variable that a script did not set.
 *
 * @param owner its owner id, or {@code null} for any
 * @param token its token, or {@code null} for any
 */
record ExpectedHolder(@Nullable String owner, @Nullable String token) {

	boolean accepts(LockState.Holder holder) {
		return (this.owner == null || this.owner.equals(holder.ownerId()))
				&& (this.token == null || this.token.equals(holder.token().toString()));
	}

	/** Returns the error if no holder is the expected one. */
	String missing(LockName lock) {
		return "Lock '%s' is not held by %s. Nothing is released. Look at its present holders before you repeat the call."
			.formatted(lock, this);
	}

	@Override
	public String toString() {
		if (this.owner == null) {
			return "a holder with token " + this.token;
		}
		return (this.token != null) ? "owner %s with token %s".formatted(this.owner, this.token)
				: "owner " + this.owner;
	}

}
