package io.holdfast.lock.actuate;

import java.time.Duration;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.health.contributor.CompositeHealthContributor;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthContributor;
import org.springframework.boot.health.contributor.HealthIndicator;

import io.holdfast.lock.LockException;
import io.holdfast.lock.engine.StoreChecks;
import io.holdfast.lock.support.DurationText;

/**
 * Health of the stores that keep locks, one component for each backend in use. A store
 * that does not respond within the timeout is down. Thread-safe.
 */
public final class LockHealthContributor implements CompositeHealthContributor {

	private final StoreChecks checks;

	private final Duration timeout;

	/**
	 * Creates the contributor.
	 * @param checks checks the stores
	 * @param timeout the longest wait for the response of one store
	 */
	public LockHealthContributor(StoreChecks checks, Duration timeout) {
		this.checks = checks;
		this.timeout = timeout;
	}

	@Override
	public @Nullable HealthContributor getContributor(String name) {
		return this.checks.backends().contains(name) ? indicator(name) : null;
	}

	/** Returns the backends in use at this moment, which may become more. */
	@Override
	public Stream<Entry> stream() {
		return this.checks.backends().stream().map((name) -> new Entry(name, indicator(name)));
	}

	private HealthIndicator indicator(String backend) {
		return () -> health(backend);
	}

	private Health health(String backend) {
		try {
			StoreChecks.Result result = this.checks.check(backend, this.timeout);
			Health.Builder health = switch (result.state()) {
				case AVAILABLE -> Health.up();
				case UNAVAILABLE -> Health.down();
				case UNKNOWN -> Health.unknown();
			};
			return health.withDetail("latency", DurationText.of(result.latency()))
				.withDetails(result.details())
				.build();
		}
		catch (LockException ex) {
			return Health.down().withDetail("error", String.valueOf(ex.getMessage())).build();
		}
	}

}
