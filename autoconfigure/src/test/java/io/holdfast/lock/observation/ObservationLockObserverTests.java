package io.holdfast.lock.observation;

import java.lang.management.ManagementFactory;
import java.lang.management.MonitorInfo;
import java.lang.management.ThreadInfo;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistryAssert;
import io.micrometer.tracing.handler.DefaultTracingObservationHandler;
import io.micrometer.tracing.otel.bridge.OtelCurrentTraceContext;
import io.micrometer.tracing.otel.bridge.OtelTracer;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.MDC;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockLostEvent;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockNotAcquiredException;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.LossCause;
import io.holdfast.lock.backend.local.LocalLockBackend;
import io.holdfast.lock.engine.EngineSettings;
import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.engine.LockEngine;
import io.holdfast.lock.spi.TransactionBoundary;
import io.holdfast.lock.spi.observation.AcquireOutcome;
import io.holdfast.lock.spi.observation.LockObservation;
import io.holdfast.lock.spi.observation.LockObserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests that acquisitions and holds are observed, and become spans of their caller's
 * trace.
 */
class ObservationLockObserverTests {

	private static final LockRequest REQUEST = LockRequest.of("stock", "4\n2");

	private final TestObservationRegistry registry = TestObservationRegistry.create();

	private final ObservationRegistry traces = ObservationRegistry.create();

	private static LockEngine engine(LockObserver observer) {
		return new LockEngine(new LockBackends(List.of(new LocalLockBackend()), LocalLockBackend.NAME),
				EngineSettings.DEFAULTS, TransactionBoundary.NONE, List.of(observer));
	}

	private static LockObserver observer(ObservationRegistry registry) {
		return new ObservationLockObserver(registry, new DefaultLockObservationConvention());
	}

	@Test
	void acquisitionAndHoldAreObserved() {
		try (LockEngine engine = engine(observer(this.registry)); LockHandle handle = engine.acquire(REQUEST)) {
			TestObservationRegistryAssert.assertThat(this.registry)
				.hasObservationWithNameEqualTo("distributed.lock.acquisition")
				.that()
				.hasContextualNameEqualTo("acquire lock stock")
				.hasLowCardinalityKeyValue("lock.backend", "local")
				.hasLowCardinalityKeyValue("lock.outcome", "acquired")
				.hasHighCardinalityKeyValue("lock", "stock:4\\u000a2")
				.hasHighCardinalityKeyValue("lock.token", handle.fencingToken().toString())
				.hasBeenStopped();
			TestObservationRegistryAssert.assertThat(this.registry)
				.hasObservationWithNameEqualTo("distributed.lock.holding")
				.that()
				.hasBeenStarted()
				.isNotStopped();
		}
		TestObservationRegistryAssert.assertThat(this.registry)
			.hasObservationWithNameEqualTo("distributed.lock.holding")
			.that()
			.hasLowCardinalityKeyValue("lock.outcome", "released")
			.hasBeenStopped();
	}

	@Test
	void refusalIsTheOutcomeOfTheAcquisition() throws InterruptedException {
		try (LockEngine engine = engine(observer(this.registry)); LockHandle ignored = engine.acquire(REQUEST)) {
			this.registry.clear();
			Thread other = new Thread(() -> assertThat(engine.tryAcquire(REQUEST)).isEmpty());
			other.start();
			other.join();
			TestObservationRegistryAssert.assertThat(this.registry)
				.hasNumberOfObservationsEqualTo(1)
				.hasObservationWithNameEqualTo("distributed.lock.acquisition")
				.that()
				.hasLowCardinalityKeyValue("lock.outcome", "skipped")
				.doesNotHaveError()
				.hasBeenStopped();
		}
	}

	@Test
	void timeoutThatFailsTheCallerIsAnError() throws InterruptedException {
		try (LockEngine engine = engine(observer(this.registry)); LockHandle ignored = engine.acquire(REQUEST)) {
			this.registry.clear();
			LockRequest noWait = LockRequest.forLock(REQUEST.lock()).waitTime(Duration.ZERO).build();
			Thread other = new Thread(() -> assertThatExceptionOfType(LockNotAcquiredException.class)
				.isThrownBy(() -> engine.acquire(noWait)));
			other.start();
			other.join();
			TestObservationRegistryAssert.assertThat(this.registry)
				.hasObservationWithNameEqualTo("distributed.lock.acquisition")
				.that()
				.hasLowCardinalityKeyValue("lock.outcome", "timeout")
				.hasError()
				.hasBeenStopped();
		}
	}

	@Test
	void lossIsTheOutcomeOfTheHold() {
		LockRequest shortLease = LockRequest.forLock(LockName.of("stock", "1"))
			.leaseTime(Duration.ofMillis(20))
			.renew(false)
			.build();
		try (LockEngine engine = engine(observer(this.registry)); LockHandle handle = engine.acquire(shortLease)) {
			CompletableFuture<LockLostEvent> lost = new CompletableFuture<>();
			handle.onLost(lost::complete);
			assertThat(lost).succeedsWithin(Duration.ofSeconds(10));
		}
		TestObservationRegistryAssert.assertThat(this.registry)
			.hasObservationWithNameEqualTo("distributed.lock.holding")
			.that()
			.hasLowCardinalityKeyValue("lock.outcome", "lost")
			.hasError()
			.hasBeenStopped();
	}

	/** A body may end at the moment at which its loss is noticed on another thread. */
	@Test
	void endOfALostHoldIsObservedAfterItsLoss() {
		List<String> events = new CopyOnWriteArrayList<>();
		CompletableFuture<LockHandle> holder = new CompletableFuture<>();
		LockObservation observation = new LockObservation() {

			@Override
			public void lost(LossCause cause) {
				Thread closing = new Thread(holder.join()::close);
				closing.start();
				await().until(() -> closing.getState() == Thread.State.WAITING || !closing.isAlive());
				events.add("lost");
			}

			@Override
			public void released(Duration held) {
				events.add("released");
			}

		};
		try (LockEngine engine = engine(following(observation))) {
			holder.complete(engine.acquire(LockRequest.forLock(LockName.of("stock", "1"))
				.leaseTime(Duration.ofMillis(200))
				.renew(false)
				.build()));
			await().until(() -> events.size() == 2);
		}
		assertThat(events).containsExactly("lost", "released");
	}

	/** A handler that waits for a lock would pin the carrier of a virtual thread. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void endOfAHoldIsObservedOutsideOfMonitors(boolean lost) {
		MonitorObservation observation = new MonitorObservation();
		try (LockEngine engine = engine(following(observation))) {
			LockHandle handle = engine.acquire(LockRequest.forLock(LockName.of("stock", "1"))
				.leaseTime(lost ? Duration.ofMillis(200) : Duration.ofSeconds(30))
				.renew(false)
				.build());
			await().until(() -> observation.events.contains("lost") == lost);
			handle.close();
		}
		assertThat(observation.events).endsWith("released");
		assertThat(observation.monitors).isEmpty();
	}

	@Test
	void holdOfSeveralLocksIsObservedOutsideOfMonitors() {
		MonitorObservation observation = new MonitorObservation();
		try (LockEngine engine = engine(following(observation))) {
			engine.acquire(LockRequest.forLocks(List.of(LockName.of("stock", "1"), LockName.of("stock", "2"))).build())
				.close();
		}
		assertThat(observation.events).containsExactlyInAnyOrder("started", "started", "granted", "granted", "released",
				"released");
		assertThat(observation.monitors).isEmpty();
	}

	private static LockObserver following(LockObservation observation) {
		return new LockObserver() {

			@Override
			public LockObservation observe(LockName lock, String backend) {
				return observation;
			}

		};
	}

	@Test
	void withoutAHandlerNothingIsFollowed() {
		assertThat(observer(ObservationRegistry.create()).observe(LockName.of("stock"), "local"))
			.isSameAs(LockObservation.NONE);
	}

	@Test
	void spansOfARequestContainTheWaitTheHoldAndTheWorkInIt() throws Exception {
		try (InMemorySpanExporter exporter = InMemorySpanExporter.create();
				SdkTracerProvider provider = SdkTracerProvider.builder()
					.addSpanProcessor(SimpleSpanProcessor.create(exporter))
					.build();
				LockEngine engine = engine(observer(traced(provider)))) {
			Observation.createNotStarted("request", this.traces)
				.observe(() -> engine.execute(REQUEST, (handle) -> Observation.createNotStarted("work", this.traces)
					.observe(() -> handle.fencingToken())));
			engine.executeAsync(REQUEST, (handle) -> CompletableFuture.completedFuture(null))
				.toCompletableFuture()
				.get();
			await().until(() -> exporter.getFinishedSpanItems().size() == 6);
			SpanData request = span(exporter, "request");
			assertThat(span(exporter, "acquire lock stock").getParentSpanId()).isEqualTo(request.getSpanId());
			SpanData hold = span(exporter, "hold lock stock");
			assertThat(hold.getParentSpanId()).isEqualTo(request.getSpanId());
			assertThat(span(exporter, "work").getParentSpanId()).isEqualTo(hold.getSpanId());
		}
	}

	private ObservationRegistry traced(SdkTracerProvider provider) {
		ObservationHandler<Observation.Context> handler = new DefaultTracingObservationHandler(
				new OtelTracer(provider.get("test"), new OtelCurrentTraceContext(), (event) -> {
				}));
		this.traces.observationConfig().observationHandler(handler);
		return this.traces;
	}

	private static SpanData span(InMemorySpanExporter exporter, String name) {
		return exporter.getFinishedSpanItems()
			.stream()
			.filter((span) -> span.getName().equals(name))
			.findFirst()
			.orElseThrow();
	}

	@Test
	void loggingContextHasTheInnermostLockOfALockedAction() {
		try (LockEngine engine = engine(new MdcLockObserver())) {
			engine.execute(LockRequest.of("outer", "1"), (outer) -> {
				engine.execute(REQUEST, (inner) -> {
					assertThat(MDC.get("lock")).isEqualTo("stock:4\\u000a2");
					assertThat(MDC.get("lockToken")).isEqualTo(inner.fencingToken().toString());
					return null;
				});
				assertThat(MDC.get("lock")).isEqualTo("outer:1");
				assertThat(MDC.get("lockToken")).isEqualTo(outer.fencingToken().toString());
				return null;
			});
			assertThat(MDC.get("lock")).isNull();
			assertThat(MDC.get("lockToken")).isNull();
		}
	}

	/** Records the monitors that the notifying thread holds. */
	private static final class MonitorObservation implements LockObservation {

		final List<String> events = new CopyOnWriteArrayList<>();

		final List<MonitorInfo> monitors = new CopyOnWriteArrayList<>();

		private void record(String event) {
			long[] self = { Thread.currentThread().getId() };
			ThreadInfo thread = ManagementFactory.getThreadMXBean().getThreadInfo(self, true, false)[0];
			this.monitors.addAll(List.of(thread.getLockedMonitors()));
			this.events.add(event);
		}

		@Override
		public void started() {
			record("started");
		}

		@Override
		public void granted(AcquireOutcome outcome, Duration waited, FencingToken token) {
			record("granted");
		}

		@Override
		public void lost(LossCause cause) {
			record("lost");
		}

		@Override
		public void released(Duration held) {
			record("released");
		}

	}

}
