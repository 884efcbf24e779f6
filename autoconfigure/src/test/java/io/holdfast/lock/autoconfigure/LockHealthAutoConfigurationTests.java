package io.holdfast.lock.autoconfigure;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.availability.ApplicationAvailabilityAutoConfiguration;
import org.springframework.boot.health.actuate.endpoint.CompositeHealthDescriptor;
import org.springframework.boot.health.actuate.endpoint.HealthEndpoint;
import org.springframework.boot.health.actuate.endpoint.HealthEndpointGroups;
import org.springframework.boot.health.actuate.endpoint.IndicatedHealthDescriptor;
import org.springframework.boot.health.autoconfigure.actuate.endpoint.AvailabilityProbesAutoConfiguration;
import org.springframework.boot.health.autoconfigure.actuate.endpoint.HealthEndpointAutoConfiguration;
import org.springframework.boot.health.autoconfigure.contributor.HealthContributorAutoConfiguration;
import org.springframework.boot.health.autoconfigure.registry.HealthContributorRegistryAutoConfiguration;
import org.springframework.boot.health.contributor.CompositeHealthContributor;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.StoreStatus;
import io.holdfast.lock.test.ForwardingBackend;
import io.holdfast.lock.test.PoorLockBackend;
import io.holdfast.lock.test.Slow;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link LockHealthAutoConfiguration} and the health of stores.
 */
class LockHealthAutoConfigurationTests {

	private static final String BEAN = "distributedLocksHealthContributor";

	private static final String NAME = "distributedLocks";

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withPropertyValues("distributed-lock.health.timeout=1m", "management.endpoint.health.show-details=always")
		.withConfiguration(
				AutoConfigurations.of(DistributedLockAutoConfiguration.class, LocalLockAutoConfiguration.class,
						LockHealthAutoConfiguration.class, HealthContributorAutoConfiguration.class,
						HealthContributorRegistryAutoConfiguration.class, HealthEndpointAutoConfiguration.class,
						AvailabilityProbesAutoConfiguration.class, ApplicationAvailabilityAutoConfiguration.class));

	private ApplicationContextRunner with(String name, Supplier<CompletionStage<StoreStatus>> status) {
		return this.runner.withBean(name, LockBackend.class, () -> new Checked(name, status));
	}

	private ApplicationContextRunner withSilent(Supplier<CompletionStage<StoreStatus>> status) {
		return with("store", status).withPropertyValues("distributed-lock.health.timeout=200ms");
	}

	private static IndicatedHealthDescriptor health(ApplicationContext context, String backend) {
		return (IndicatedHealthDescriptor) context.getBean(HealthEndpoint.class).healthForPath(NAME, backend);
	}

	@Test
	void storeThatRespondsIsUpWithItsLatencyAndDetails() {
		with("store", () -> CompletableFuture.completedFuture(StoreStatus.available(Map.of("nodes", 3))))
			.run((context) -> {
				IndicatedHealthDescriptor health = health(context, "store");
				assertThat(health.getStatus()).isEqualTo(Status.UP);
				assertThat(health.getDetails()).containsEntry("nodes", 3).containsKey("latency");
				assertThat(health.getDetails().get("latency")).asString().endsWith("ms");
			});
	}

	@Test
	void storeThatCannotGrantLocksIsDown() {
		with("store", () -> CompletableFuture.completedFuture(StoreStatus.unavailable(Map.of("votes", 1))))
			.run((context) -> {
				assertThat(health(context, "store").getStatus()).isEqualTo(Status.DOWN);
				assertThat(health(context, "store").getDetails()).containsEntry("votes", 1);
			});
	}

	@Test
	void backendThatCannotCheckItsStoreIsUnknown() {
		this.runner.withBean(PoorLockBackend.class)
			.run((context) -> assertThat(health(context, "poor").getStatus()).isEqualTo(Status.UNKNOWN));
	}

	@Test
	void failedCheckIsDownWithItsReason() {
		with("store", () -> CompletableFuture.failedFuture(new IllegalStateException("wrong password")))
			.run((context) -> {
				assertThat(health(context, "store").getStatus()).isEqualTo(Status.DOWN);
				assertThat(health(context, "store").getDetails().get("error")).asString()
					.contains("backend 'store'", "wrong password");
			});
	}

	@ParameterizedTest
	@ValueSource(strings = { "0ms", "-1s" })
	void timeoutWithoutTimeForAnAnswerStopsTheStart(String timeout) {
		this.runner.withPropertyValues("distributed-lock.health.timeout=" + timeout)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("'distributed-lock.health.timeout' is " + timeout));
	}

	@Test
	void silentStoreIsDownAtTheTimeout() {
		withSilent(CompletableFuture::new).run((context) -> {
			assertThat(health(context, "store").getStatus()).isEqualTo(Status.DOWN);
			assertThat(health(context, "store").getDetails().get("error")).asString()
				.contains("no response within 200ms");
		});
	}

	@Slow
	@Test
	void storeThatBlocksItsCallersDelaysNoCheck() {
		CountDownLatch responds = new CountDownLatch(1);
		withSilent(() -> {
			awaitQuietly(responds);
			return CompletableFuture.completedFuture(StoreStatus.available(Map.of()));
		}).run((context) -> {
			List<Status> statuses = IntStream.range(0, 10)
				.mapToObj((i) -> health(context, "store").getStatus())
				.toList();
			assertThat(statuses).containsOnly(Status.DOWN);
			assertThat(health(context, "store").getDetails().get("error")).asString()
				.contains("no response within 200ms");
			responds.countDown();
		});
	}

	@Test
	void checksAtTheSameTimeWaitForEachOther() {
		CyclicBarrier several = new CyclicBarrier(8);
		with("store", () -> {
			awaitAll(several);
			return CompletableFuture.completedFuture(StoreStatus.available(Map.of()));
		}).run((context) -> {
			ExecutorService callers = Executors.newFixedThreadPool(32);
			try {
				List<Future<Status>> statuses = callers
					.invokeAll(Collections.nCopies(32, (Callable<Status>) () -> health(context, "store").getStatus()));
				for (Future<Status> status : statuses) {
					assertThat(status.get()).isEqualTo(Status.UP);
				}
			}
			finally {
				callers.shutdownNow();
			}
		});
	}

	private static void awaitAll(CyclicBarrier barrier) {
		try {
			barrier.await();
		}
		catch (InterruptedException | BrokenBarrierException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void awaitQuietly(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	@Test
	void onlyBackendsInUseAreChecked() {
		with("store", CompletableFuture::new).withPropertyValues("distributed-lock.backend=local").run((context) -> {
			CompositeHealthContributor locks = context.getBean(BEAN, CompositeHealthContributor.class);
			assertThat(locks.stream()).extracting(CompositeHealthContributor.Entry::name).containsExactly("local");
			assertThat(locks.getContributor("store")).isNull();
			LockRequest request = LockRequest.forLock(LockName.of("stock")).backend("store").build();
			try (LockHandle handle = context.getBean(LockOperations.class).acquire(request)) {
				assertThat(handle.backend()).isEqualTo("store");
			}
			assertThat(locks.stream()).extracting(CompositeHealthContributor.Entry::name)
				.containsExactly("local", "store");
			assertThat(locks.getContributor("store")).isInstanceOf(HealthIndicator.class);
		});
	}

	@Test
	void storesCountForTheWholeApplicationButNotForItsProbes() {
		this.runner
			.withPropertyValues("distributed-lock.backend=local", "management.endpoint.health.probes.enabled=true")
			.run((context) -> {
				HealthEndpointGroups groups = context.getBean(HealthEndpointGroups.class);
				assertThat(groups.getPrimary().isMember(NAME)).isTrue();
				assertThat(groups.get("liveness").isMember(NAME)).isFalse();
				assertThat(groups.get("readiness").isMember(NAME)).isFalse();
			});
	}

	@Test
	void storesMayBeAddedToAGroup() {
		this.runner
			.withPropertyValues("distributed-lock.backend=local",
					"management.endpoint.health.group.locks.include=distributedLocks",
					"management.endpoint.health.group.locks.show-details=always")
			.run((context) -> assertThat(context.getBean(HealthEndpoint.class).healthForPath("locks"))
				.isInstanceOf(CompositeHealthDescriptor.class));
	}

	@Test
	void propertyDisablesTheCheck() {
		this.runner.withPropertyValues("management.health.distributedlocks.enabled=false")
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(BEAN));
	}

	@Test
	void disabledLocksHaveNoHealth() {
		this.runner.withPropertyValues("distributed-lock.enabled=false")
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(BEAN));
	}

	@Test
	void healthIsOptional() {
		new ApplicationContextRunner().withPropertyValues("distributed-lock.backend=local")
			.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
					LocalLockAutoConfiguration.class, LockHealthAutoConfiguration.class))
			.withClassLoader(new FilteredClassLoader(CompositeHealthContributor.class))
			.run((context) -> assertThat(context).hasNotFailed()
				.hasSingleBean(LockOperations.class)
				.doesNotHaveBean(BEAN));
	}

	/** A backend with a scripted status. */
	private static final class Checked extends ForwardingBackend {

		private final String name;

		private final Supplier<CompletionStage<StoreStatus>> status;

		Checked(String name, Supplier<CompletionStage<StoreStatus>> status) {
			super(new PoorLockBackend(name));
			this.name = name;
			this.status = status;
		}

		@Override
		public String name() {
			return this.name;
		}

		@Override
		public CompletionStage<StoreStatus> status() {
			return this.status.get();
		}

	}

}
