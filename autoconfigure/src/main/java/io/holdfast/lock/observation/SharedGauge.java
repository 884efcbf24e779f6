package io.holdfast.lock.observation;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.WeakHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;

/**
 * A gauge whose value is the sum of those of all observers of a registry, such as the
 * observers of two application contexts. A registry keeps only the first gauge with a
 * name and its tags, and would hide the values of all others. Thread-safe.
 */
final class SharedGauge {

	private static final Map<MeterRegistry, Map<Key, SharedGauge>> ALL = new WeakHashMap<>();

	private final List<AtomicInteger> values = new CopyOnWriteArrayList<>();

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
		Key key = new Key(meter, tags);
		AtomicInteger value = new AtomicInteger();
		synchronized (ALL) {
			SharedGauge shared = ALL.computeIfAbsent(registry, (first) -> new HashMap<>())
				.computeIfAbsent(key, (first) -> new SharedGauge());
			shared.values.add(value);
			Gauge gauge = Gauge.builder(meter.getName(), shared, SharedGauge::sum)
				.description(meter.description())
				.tags(tags)
				.strongReference(true)
				.register(registry);
			return new Value(value, () -> shared.remove(value, key, gauge, registry));
		}
	}

	private double sum() {
		return this.values.stream().mapToInt(AtomicInteger::get).sum();
	}

	private void remove(AtomicInteger value, Key key, Gauge gauge, MeterRegistry registry) {
		synchronized (ALL) {
			if (this.values.remove(value) && this.values.isEmpty()) {
				Objects.requireNonNull(ALL.get(registry)).remove(key);
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

	/**
	 * Identifies a gauge of a registry.
	 *
	 * @param meter the gauge
	 * @param tags its tags
	 */
	private record Key(LockMeterDocumentation meter, Tags tags) {

	}

}
