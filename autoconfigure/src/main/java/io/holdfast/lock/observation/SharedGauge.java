package io.holdfast.lock.observation;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.WeakHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;

/**
 * A gauge whose value is the sum of those of all observers of a registry, such as the
 * observers of two application contexts, and of all meters that a filter of the registry
 * makes the same. A registry keeps only the first gauge with a name and its tags, and
 * would hide the values of all others. Thread-safe.
 */
final class SharedGauge {

	private static final Map<MeterRegistry, Map<Meter.Id, SharedGauge>> ALL = new WeakHashMap<>();

	private volatile List<AtomicInteger> values = new CopyOnWriteArrayList<>();

	private SharedGauge() {
	}

	/**
	 * Adds a value to a gauge, and registers the gauge if this is its first one.
	 * @param registry the registry
	 * @param meter the gauge
	 * @param tags its tags
	 * @return the value, which the caller changes and removes
	 */
	static Value add(MeterRegistry registry, LockMeterDocumentation meter, Tags tags) {
		AtomicInteger value = new AtomicInteger();
		synchronized (ALL) {
			SharedGauge next = new SharedGauge();
			Gauge gauge = Gauge.builder(meter.getName(), next, SharedGauge::sum)
				.description(meter.description())
				.tags(tags)
				.strongReference(true)
				.register(registry);
			// with the name and the tags that the filters of the registry have left
			SharedGauge shared = ALL.computeIfAbsent(registry, (first) -> new HashMap<>())
				.computeIfAbsent(gauge.getId(), (first) -> next);
			// a registry that was cleared has registered the next one
			next.values = shared.values;
			shared.values.add(value);
			return new Value(value, () -> shared.remove(value, gauge, registry));
		}
	}

	private double sum() {
		return this.values.stream().mapToInt(AtomicInteger::get).sum();
	}

	private void remove(AtomicInteger value, Gauge gauge, MeterRegistry registry) {
		synchronized (ALL) {
			if (this.values.remove(value) && this.values.isEmpty()) {
				Objects.requireNonNull(ALL.get(registry)).remove(gauge.getId());
				registry.remove(gauge);
			}
		}
	}

	/**
	 * The value of one observer.
	 *
	 * @param current the value
	 * @param removal removes it, and with the last one the gauge
	 */
	record Value(AtomicInteger current, Runnable removal) {

	}

}
