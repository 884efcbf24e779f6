package io.holdfast.lock.observation;

import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;

import io.holdfast.lock.LossCause;
import io.holdfast.lock.spi.AcquireOutcome;
import io.holdfast.lock.spi.RenewalOutcome;

/**
 * The meters of one lock name in one store.
 */
final class LockMeters {

	private static final String PREFIX = "distributed.lock.";

	private final Map<AcquireOutcome, Timer> acquire;

	private final Timer hold;

	private final AtomicInteger held = new AtomicInteger();

	private final AtomicInteger waiting = new AtomicInteger();

	private final Map<RenewalOutcome, Counter> renewal;

	private final Map<LossCause, Counter> lost;

	LockMeters(MeterRegistry registry, String name, String backend) {
		Tags tags = Tags.of("name", name, "backend", backend);
		this.acquire = forEach(AcquireOutcome.class,
				(outcome) -> Timer.builder(PREFIX + "acquire")
					.description("Time to acquire a lock, or to give up")
					.tags(tags.and("outcome", outcome.tag()))
					.register(registry));
		this.hold = Timer.builder(PREFIX + "hold")
			.description("Time for which a lock was held")
			.tags(tags)
			.register(registry);
		Gauge.builder(PREFIX + "held", this.held, AtomicInteger::get)
			.description("Locks held by this instance")
			.tags(tags)
			.strongReference(true)
			.register(registry);
		Gauge.builder(PREFIX + "waiting", this.waiting, AtomicInteger::get)
			.description("Acquisitions of this instance under way")
			.tags(tags)
			.strongReference(true)
			.register(registry);
		this.renewal = forEach(RenewalOutcome.class,
				(outcome) -> Counter.builder(PREFIX + "renewal")
					.description("Renewals of leases")
					.tags(tags.and("outcome", outcome.tag()))
					.register(registry));
		this.lost = forEach(LossCause.class,
				(cause) -> Counter.builder(PREFIX + "lost")
					.description("Holds that ended before their holder let go")
					.tags(tags.and("cause", cause.tag()))
					.register(registry));
	}

	private static <K extends Enum<K>, M> Map<K, M> forEach(Class<K> type, Function<K, M> meter) {
		Map<K, M> meters = new EnumMap<>(type);
		for (K value : type.getEnumConstants()) {
			meters.put(value, meter.apply(value));
		}
		return meters;
	}

	Timer acquire(AcquireOutcome outcome) {
		return get(this.acquire, outcome);
	}

	Timer hold() {
		return this.hold;
	}

	AtomicInteger held() {
		return this.held;
	}

	AtomicInteger waiting() {
		return this.waiting;
	}

	Counter renewal(RenewalOutcome outcome) {
		return get(this.renewal, outcome);
	}

	Counter lost(LossCause cause) {
		return get(this.lost, cause);
	}

	private static <K, M> M get(Map<K, M> meters, K key) {
		return Objects.requireNonNull(meters.get(key));
	}

}
