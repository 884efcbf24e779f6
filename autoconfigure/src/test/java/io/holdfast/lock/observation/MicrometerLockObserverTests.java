package io.holdfast.lock.observation;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.micrometer.common.docs.KeyName;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.distribution.CountAtBucket;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockLostEvent;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LossCause;
import io.holdfast.lock.spi.observation.AcquireOutcome;
import io.holdfast.lock.spi.observation.RenewalOutcome;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

@ExtendWith(OutputCaptureExtension.class)
class MicrometerLockObserverTests {

	private static final LockName LOCK = LockName.of("stock", "42");

	private static final Duration LEASE = Duration.ofSeconds(30);

	private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

	private final MicrometerLockObserver observer = new MicrometerLockObserver(this.registry);

	@Test
	void acquisitionIsTimedByItsOutcome() {
		acquire(AcquireOutcome.ACQUIRED, Duration.ofMillis(3));
		acquire(AcquireOutcome.TIMEOUT, Duration.ofMillis(500));
		assertThat(time("acquire", "outcome", "acquired")).isEqualTo(3);
		assertThat(time("acquire", "outcome", "timeout")).isEqualTo(500);
		assertThat(time("acquire", "outcome", "contended")).isZero();
	}

	@Test
	void waitersAreCountedUntilTheirAcquisitionEnds() {
		this.observer.acquiring(LOCK, "redis");
		this.observer.acquiring(LockName.of("stock", "43"), "redis");
		assertThat(gauge("waiting")).isEqualTo(2);
		this.observer.acquired(LOCK, "redis", AcquireOutcome.ERROR, Duration.ZERO, LEASE);
		assertThat(gauge("waiting")).isEqualTo(1);
		assertThat(gauge("held")).isZero();
	}

	@Test
	void holdsAreCountedAndTimedUntilTheirRelease() {
		acquire(AcquireOutcome.ACQUIRED, Duration.ZERO);
		acquire(AcquireOutcome.CONTENDED, Duration.ZERO);
		assertThat(gauge("held")).isEqualTo(2);
		this.observer.released(LOCK, "redis", Duration.ofMillis(70), LEASE);
		assertThat(gauge("held")).isEqualTo(1);
		assertThat(this.registry.get("distributed.lock.hold").timer().totalTime(TimeUnit.MILLISECONDS)).isEqualTo(70);
	}

	@Test
	void renewalsAndLossesAreCountedByTheirReason() {
		this.observer.renewing(LOCK, "redis", Duration.ofMillis(7));
		this.observer.renewed(LOCK, "redis", RenewalOutcome.RENEWED);
		this.observer.renewed(LOCK, "redis", RenewalOutcome.REFUSED);
		this.observer.lost(new LockLostEvent(LOCK, "redis", new FencingToken(1), LossCause.MAX_HOLD));
		assertThat(count("renewal", "outcome", "renewed")).isEqualTo(1);
		assertThat(this.registry.get("distributed.lock.renewal.delay").timer().totalTime(TimeUnit.MILLISECONDS))
			.isEqualTo(7);
		assertThat(count("renewal", "outcome", "refused")).isEqualTo(1);
		assertThat(count("renewal", "outcome", "indeterminate")).isZero();
		assertThat(count("lost", "cause", "max-hold")).isEqualTo(1);
		assertThat(count("lost", "cause", "expired")).isZero();
	}

	@Test
	void refusedCommitsAndHoldersAreCounted() {
		this.observer.commitRefused(LOCK, "redis");
		this.observer.fencingRejected(LOCK, "redis");
		this.observer.fencingRejected(LOCK, "redis");
		assertThat(this.registry.get("distributed.lock.commit.refused").counter().count()).isOne();
		assertThat(this.registry.get("distributed.lock.fencing.rejected").counter().count()).isEqualTo(2);
	}

	@Test
	void aMillionKeysAreOneSetOfMeters() {
		acquire(AcquireOutcome.ACQUIRED, Duration.ZERO);
		int before = this.registry.getMeters().size();
		for (int key = 0; key < 1_000_000; key++) {
			this.observer.acquiring(LockName.of("stock", "" + key), "redis");
		}
		List<Meter> meters = this.registry.getMeters();
		assertThat(meters).hasSize(before);
		assertThat(meters).allSatisfy((meter) -> assertThat(meter.getId().getTags().toString()).doesNotContain("42"));
	}

	@Test
	void storesAreKeptApart() {
		acquire(AcquireOutcome.ACQUIRED, Duration.ZERO);
		this.observer.acquiring(LOCK, "local");
		assertThat(this.registry.get("distributed.lock.held").tag("backend", "redis").gauge().value()).isEqualTo(1);
		assertThat(this.registry.get("distributed.lock.held").tag("backend", "local").gauge().value()).isZero();
	}

	@Test
	void shareOfTheLeaseThatWasUsedIsMeasured() {
		acquire(AcquireOutcome.CONTENDED, Duration.ofSeconds(3));
		this.observer.released(LOCK, "redis", Duration.ofSeconds(45), LEASE);
		assertThat(this.registry.get("distributed.lock.acquire.lease.ratio").summary().max()).isEqualTo(10);
		assertThat(this.registry.get("distributed.lock.hold.lease.ratio").summary().max()).isEqualTo(150);
	}

	@Test
	void metersAreThoseOfTheVocabulary() {
		acquire(AcquireOutcome.ACQUIRED, Duration.ZERO);
		assertThat(this.registry.getMeters()).filteredOn((meter) -> meter.getId().syntheticAssociation() == null)
			.extracting((meter) -> meter.getId().getName())
			.containsOnly(Stream.of(LockMeterDocumentation.values())
				.map(LockMeterDocumentation::getName)
				.toArray(String[]::new));
		for (LockMeterDocumentation meter : LockMeterDocumentation.values()) {
			assertThat(this.registry.get(meter.getName()).meters()).allSatisfy((registered) -> {
				assertThat(registered.getId().getType()).isEqualTo(meter.getType());
				assertThat(registered.getId().getDescription()).isEqualTo(meter.description());
				assertThat(registered.getId().getTags()).extracting(Tag::getKey)
					.containsExactlyInAnyOrder(
							Stream.of(meter.getKeyNames()).map(KeyName::asString).toArray(String[]::new));
			});
		}
	}

	@Test
	void unboundedNamesShareOneSetOfMetersAndOneWarning(CapturedOutput output) {
		acquire(AcquireOutcome.ACQUIRED, Duration.ZERO);
		for (int name = 0; name < MicrometerLockObserver.DEFAULT_MAX_NAMES + 500; name++) {
			this.observer.acquiring(LockName.of("stock-" + name), "redis");
		}
		assertThat(this.registry.find("distributed.lock.waiting").gauges())
			.hasSize(MicrometerLockObserver.DEFAULT_MAX_NAMES + 1);
		assertThat(this.registry.get("distributed.lock.waiting").tag("name", "other").gauge().value()).isEqualTo(501);
		assertThat(gauge("held")).isEqualTo(1);
		assertThat(output).containsOnlyOnce("More than 100 lock names are in use. 'stock-99'");
	}

	@Test
	void numberOfNamesIsASetting() {
		MicrometerLockObserver one = new MicrometerLockObserver(this.registry, 1);
		one.acquiring(LockName.of("stock"), "redis");
		one.acquiring(LockName.of("invoice"), "redis");
		assertThat(this.registry.find("distributed.lock.waiting").gauges())
			.extracting((gauge) -> gauge.getId().getTag("name"))
			.containsExactlyInAnyOrder("stock", "other");
	}

	@Test
	void lateNameIsCountedUpAndDownInTheSameMeter() {
		for (int name = 0; name <= MicrometerLockObserver.DEFAULT_MAX_NAMES; name++) {
			this.observer.acquiring(LockName.of("stock-" + name), "redis");
		}
		for (int name = 0; name <= MicrometerLockObserver.DEFAULT_MAX_NAMES; name++) {
			this.observer.acquired(LockName.of("stock-" + name), "redis", AcquireOutcome.ERROR, Duration.ZERO, LEASE);
		}
		assertThat(this.registry.find("distributed.lock.waiting").gauges()).isNotEmpty()
			.allSatisfy((gauge) -> assertThat(gauge.value()).isZero());
	}

	/** As those of two application contexts that are open at the same time. */
	@Test
	void gaugesAreTheSumsOfAllObserversOfARegistry() {
		this.registry.config().meterFilter(new MeterFilter() {

			@Override
			public Meter.Id map(Meter.Id id) {
				return id.withName("renamed." + id.getName());
			}

		});
		LockName lock = LockName.of("stock", "42");
		MicrometerLockObserver other = new MicrometerLockObserver(this.registry);
		this.observer.acquiring(lock, "redis");
		other.acquiring(lock, "redis");
		other.acquiring(lock, "redis");
		assertThat(this.registry.get("renamed.distributed.lock.waiting").gauge().value()).isEqualTo(3);
		this.observer.close();
		assertThat(this.registry.get("renamed.distributed.lock.waiting").gauge().value()).isEqualTo(2);
		other.close();
		assertThat(this.registry.find("renamed.distributed.lock.waiting").gauge()).isNull();
	}

	@Test
	void gaugeThatAFilterMergesIsTheSumOfAllLocks() {
		this.registry.config().meterFilter(MeterFilter.ignoreTags("name"));
		MicrometerLockObserver other = new MicrometerLockObserver(this.registry);
		this.observer.acquiring(LockName.of("stock", "42"), "redis");
		this.observer.acquiring(LockName.of("orders", "42"), "redis");
		other.acquiring(LockName.of("invoices", "42"), "redis");
		assertThat(this.registry.get("distributed.lock.waiting").gauge().value()).isEqualTo(3);
		this.observer.close();
		assertThat(this.registry.get("distributed.lock.waiting").gauge().value()).isEqualTo(1);
		this.registry.clear();
		other.acquiring(LockName.of("reports", "42"), "redis");
		assertThat(this.registry.get("distributed.lock.waiting").gauge().value()).isEqualTo(2);
		other.close();
	}

	@Test
	void lockThatIsFirstUsedAfterTheCloseLeavesNoGauge() {
		this.observer.close();
		acquire(AcquireOutcome.INTERRUPTED, Duration.ZERO);
		assertThat(this.registry.find("distributed.lock.waiting").gauge()).isNull();
		assertThat(this.registry.find("distributed.lock.held").gauge()).isNull();
	}

	@Test
	void importantSharesAreCountedExactly() {
		for (long seconds : new long[] { 3, 15, 16, 24, 31 }) {
			acquire(AcquireOutcome.CONTENDED, Duration.ofSeconds(seconds));
			this.observer.released(LOCK, "redis", Duration.ofSeconds(seconds), LEASE);
		}
		assertThat(buckets(LockMeterDocumentation.ACQUIRE_LEASE_RATIO)).contains(entry(25.0, 1.0), entry(50.0, 2.0),
				entry(75.0, 3.0), entry(100.0, 4.0));
		assertThat(buckets(LockMeterDocumentation.HOLD_LEASE_RATIO)).contains(entry(10.0, 1.0), entry(50.0, 2.0),
				entry(80.0, 4.0), entry(100.0, 4.0), entry(200.0, 5.0));
	}

	private Map<Double, Double> buckets(LockMeterDocumentation meter) {
		return Stream.of(this.registry.get(meter.getName()).summary().takeSnapshot().histogramCounts())
			.collect(Collectors.toMap(CountAtBucket::bucket, CountAtBucket::count, (a, b) -> a, TreeMap::new));
	}

	private void acquire(AcquireOutcome outcome, Duration waited) {
		this.observer.acquiring(LOCK, "redis");
		this.observer.acquired(LOCK, "redis", outcome, waited, LEASE);
	}

	private double time(String meter, String tag, String value) {
		return this.registry.get("distributed.lock." + meter)
			.tags("name", "stock", "backend", "redis", tag, value)
			.timer()
			.totalTime(TimeUnit.MILLISECONDS);
	}

	private double gauge(String meter) {
		return this.registry.get("distributed.lock." + meter).tags("name", "stock", "backend", "redis").gauge().value();
	}

	private double count(String meter, String tag, String value) {
		return this.registry.get("distributed.lock." + meter)
			.tags("name", "stock", "backend", "redis", tag, value)
			.counter()
			.count();
	}

}
