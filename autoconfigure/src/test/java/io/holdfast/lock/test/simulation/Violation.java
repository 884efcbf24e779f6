package io.holdfast.lock.test.simulation;

import org.jspecify.annotations.Nullable;

/**
 * What was found to be wrong in a run.
 *
 * @param check the name of the check
 * @param subject the lock concerned, or empty
 * @param message what was found
 * @param cause the failure that shows it, or {@code null}
 */
public record Violation(String check, String subject, String message, @Nullable Throwable cause) {

	@Override
	public String toString() {
		return "%s%s: %s".formatted(this.check, this.subject.isEmpty() ? "" : " of " + this.subject, this.message);
	}

}
