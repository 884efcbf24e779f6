package io.holdfast.lock.test;

import java.time.Duration;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Lets Awaitility check a condition at once, and then in growing intervals. By default,
 * it checks every 100 milliseconds, also for the first time, which was a third of the
 * time of some classes, and gives up after 10 seconds, which was too early on a busy
 * machine. The build registers this extension for all tests.
 */
public final class PollingExtension implements BeforeAllCallback {

	private static final Duration SHORTEST = Duration.ofMillis(1);

	private static final Duration LONGEST = Duration.ofMillis(50);

	private static final Duration TIMEOUT = Duration.ofMinutes(1);

	@Override
	public void beforeAll(ExtensionContext context) {
		Awaitility.setDefaultTimeout(TIMEOUT);
		Awaitility.setDefaultPollDelay(Duration.ZERO);
		Awaitility.setDefaultPollInterval((count, previous) -> next(previous));
	}

	private static Duration next(Duration previous) {
		Duration doubled = previous.multipliedBy(2);
		return doubled.compareTo(SHORTEST) < 0 ? SHORTEST : doubled.compareTo(LONGEST) > 0 ? LONGEST : doubled;
	}

}
