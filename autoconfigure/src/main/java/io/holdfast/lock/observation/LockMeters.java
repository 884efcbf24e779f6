package io.holdfast.lock.observation;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

import io.micrometer.common.KeyValue;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;

import io.holdfast.lock.LossCause;
import io.holdfast.lock.spi.observation.AcquireOutcome;
import io.holdfast.lock.spi.observation.RenewalOutcome;

/**
 * The meters of one lock name and one backend.
 */
final class LockMeters {

	/**
	 * Scales shares to percent: Micrometer's histograms use integers and would round up
	 * to 1.
	 */
	private static final double PERCENT = 100;

	/**
	 * The buckets, fine enough for a p99. Those that deserve an operator's attention are
	 * boundaries and therefore exact: half of a lease spent waiting, four fifths of it
	 * held.
	 */
	private static final double[] ACQUIRE_PERCENT = { 1, 5, 10, 25, 50, 75, 100 };

	private static final double[] HOLD_PERCENT = { 10, 25, 50, 80, 100, 200 };

	private final MeterRegistry registry;

	private final Tags tags;

	private final Map<AcquireOutcome, Timer> acquire;

	private final DistributionSummary acquireLeaseRatio;

	private final Timer hold;

	private final DistributionSummary holdLeaseRatio;

	private final List<SharedGauge.Value> gauges = new ArrayList<>();

	private final AtomicInteger held;

	private final AtomicInteger waiting;

	private final Counter handoff;

	private final Map<RenewalOutcome, Counter> renewal;

	private final Timer renewalDelay;

	private final Map<LossCause, Counter> lost;

	private final Counter commitRefused;

	private final Counter fencingRejected;

	LockMeters(MeterRegistry registry, String name, String backend) {
		this.registry = registry;
		this.tags = Tags.of(LockMeterDocumentation.Tag.NAME.asString(), name,
				LockMeterDocumentation.Tag.BACKEND.asString(), backend);
		this.acquire = forEach(AcquireOutcome.class, (outcome) -> timer(LockMeterDocumentation.ACQUIRE,
				LockMeterDocumentation.Tag.OUTCOME_OF_ACQUISITION.withValue(outcome)));
		this.acquireLeaseRatio = ratio(LockMeterDocumentation.ACQUIRE_LEASE_RATIO, ACQUIRE_PERCENT);
		this.hold = timer(LockMeterDocumentation.HOLD);
		this.holdLeaseRatio = ratio(LockMeterDocumentation.HOLD_LEASE_RATIO, HOLD_PERCENT);
		this.held = gauge(LockMeterDocumentation.HELD);
		this.waiting = gauge(LockMeterDocumentation.WAITING);
		this.handoff = counter(LockMeterDocumentation.HANDOFF);
		this.renewal = forEach(RenewalOutcome.class, (outcome) -> counter(LockMeterDocumentation.RENEWAL,
				LockMeterDocumentation.Tag.OUTCOME_OF_RENEWAL.withValue(outcome)));
		this.renewalDelay = timer(LockMeterDocumentation.RENEWAL_DELAY);
		this.lost = forEach(LossCause.class,
				(cause) -> counter(LockMeterDocumentation.LOST, LockMeterDocumentation.Tag.CAUSE.withValue(cause)));
		this.commitRefused = counter(LockMeterDocumentation.COMMIT_REFUSED);
		this.fencingRejected = counter(LockMeterDocumentation.FENCING_REJECTED);
	}

	private Timer timer(LockMeterDocumentation meter, KeyValue... own) {
		return Timer.builder(meter.getName()).description(meter.description()).tags(tags(own)).register(this.registry);
	}

	private DistributionSummary ratio(LockMeterDocumentation meter, double... boundaries) {
		return DistributionSummary.builder(meter.getName())
			.description(meter.description())
			.tags(this.tags)
			.baseUnit(meter.getBaseUnit())
			.scale(PERCENT)
			.serviceLevelObjectives(boundaries)
			.register(this.registry);
	}

	private AtomicInteger gauge(LockMeterDocumentation meter) {
		SharedGauge.Value value = SharedGauge.add(this.registry, meter, this.tags);
		this.gauges.add(value);
		return value.current();
	}

	/**
	 * Removes the values of the gauges from a registry that outlives its application
	 * context.
	 */
	void close() {
		this.gauges.forEach((value) -> value.removal().run());
	}

	private Counter counter(LockMeterDocumentation meter, KeyValue... own) {
		return Counter.builder(meter.getName())
			.description(meter.description())
			.tags(tags(own))
			.register(this.registry);
	}

	private Tags tags(KeyValue... own) {
		Tags all = this.tags;
		for (KeyValue value : own) {
			all = all.and(value.getKey(), value.getValue());
		}
		return all;
	}

	private static <K extends Enum<K>, M> Map<K, M> forEach(Class<K> type, Function<K, M> meter) {
		Map<K, M> meters = new EnumMap<>(type);
		for (K value : type.getEnumConstants()) {
			meters.put(value, meter.apply(value));
		}
		return meters;
	}

	void acquiring() {
		this.waiting.incrementAndGet();
	}

	void acquired(AcquireOutcome outcome, Duration waited, Duration lease) {
		this.waiting.decrementAndGet();
		get(this.acquire, outcome).record(waited);
		this.acquireLeaseRatio.record(share(waited, lease));
		if (outcome == AcquireOutcome.ACQUIRED || outcome == AcquireOutcome.CONTENDED) {
			this.held.incrementAndGet();
		}
	}

	void released(Duration held, Duration lease) {
		this.held.decrementAndGet();
		this.hold.record(held);
		this.holdLeaseRatio.record(share(held, lease));
	}

	void handedOff() {
		this.handoff.increment();
	}

	void renewing(Duration late) {
		this.renewalDelay.record(late);
	}

	void renewed(RenewalOutcome outcome) {
		get(this.renewal, outcome).increment();
	}

	void lost(LossCause cause) {
		get(this.lost, cause).increment();
	}

	void commitRefused() {
		this.commitRefused.increment();
	}

	void fencingRejected() {
		this.fencingRejected.increment();
	}

	private static double share(Duration part, Duration lease) {
		return (double) part.toNanos() / lease.toNanos();
	}

	private static <K, M> M get(Map<K, M> meters, K key) {
		return Objects.requireNonNull(meters.get(key));
	}

}
