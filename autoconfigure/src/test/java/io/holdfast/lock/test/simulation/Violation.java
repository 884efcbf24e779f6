package io.holdfast.lock.test.simulation;

import org.jspecify.annotations.Nullable;

/**
 * An invariant that does not hold in a run.
 *
 * @param check the name of the check
 * @param subject the affected lock, or empty
 * @param message the description of the violation
 * @param cause the failure that reveals it, or {@code null}
 */
public record Violation(String check, String subject, String message, @Nullable Throwable cause) {

	@Override
	public String toString() {
		return "%s%s: %s".formatted(this.check, this.subject.isEmpty() ? "" : " of " + this.subject, this.message);
	}

}
