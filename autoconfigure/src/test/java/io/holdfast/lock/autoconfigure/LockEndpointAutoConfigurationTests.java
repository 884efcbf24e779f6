package io.holdfast.lock.autoconfigure;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;

import javax.management.MBeanServer;
import javax.management.ObjectName;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.actuate.audit.InMemoryAuditEventRepository;
import org.springframework.boot.actuate.audit.listener.AuditListener;
import org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.jackson.JacksonEndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.jmx.JmxEndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.web.WebEndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.server.ManagementContextAutoConfiguration;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.jmx.JmxAutoConfiguration;
import org.springframework.boot.http.converter.autoconfigure.HttpMessageConvertersAutoConfiguration;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableWebApplicationContext;
import org.springframework.boot.test.context.runner.ContextConsumer;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.webmvc.autoconfigure.DispatcherServletAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;
import org.springframework.context.ApplicationListener;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.http.HttpStatus;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

import io.holdfast.lock.LockForceReleasedEvent;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockInspector;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.actuate.DistributedLocksEndpoint;
import io.holdfast.lock.test.Slow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link LockEndpointAutoConfiguration} and the endpoint over HTTP and JMX.
 */
class LockEndpointAutoConfigurationTests {

	private static final String URI = "/actuator/distributedlocks";

	private final WebApplicationContextRunner runner = new WebApplicationContextRunner()
		.withPropertyValues("distributed-lock.backend=local",
				"management.endpoints.web.exposure.include=distributedlocks")
		.withConfiguration(
				AutoConfigurations.of(DistributedLockAutoConfiguration.class, LocalLockAutoConfiguration.class,
						LockInspectorAutoConfiguration.class, LockEndpointAutoConfiguration.class,
						ManagementContextAutoConfiguration.class, EndpointAutoConfiguration.class,
						WebEndpointAutoConfiguration.class, JacksonEndpointAutoConfiguration.class,
						JacksonAutoConfiguration.class, HttpMessageConvertersAutoConfiguration.class,
						WebMvcAutoConfiguration.class, DispatcherServletAutoConfiguration.class));

	private final WebApplicationContextRunner unrestricted = this.runner
		.withPropertyValues("management.endpoint.distributedlocks.access=UNRESTRICTED");

	private static ContextConsumer<AssertableWebApplicationContext> holding(LockRequest request, Case body) {
		return (context) -> {
			try (LockHandle handle = context.getBean(LockOperations.class).acquire(request)) {
				body.run(context, MockMvcTester.from(context), handle);
			}
		};
	}

	@Test
	void locksOfThisInstanceAreListed() {
		LockRequest request = LockRequest.of("stock", 42);
		this.runner.run(holding(request, (context, http, handle) -> {
			LockOperations locks = context.getBean(LockOperations.class);
			CompletableFuture<LockHandle> waiter = locks.acquireAsync(request).toCompletableFuture();
			await().until(() -> !context.getBean(LockInspector.class).waiting().isEmpty());
			assertThat(http.get().uri(URI)).hasStatusOk()
				.bodyJson()
				.isLenientlyEqualTo("""
						{
							"held": [{
								"lock": "stock:42", "backend": "local", "mode": "EXCLUSIVE", "fair": false,
								"token": "%s", "owner": "%s", "thread": "%s", "inUse": true, "waiters": 1
							}],
							"waiting": [{
								"lock": "stock:42", "backend": "local", "mode": "EXCLUSIVE", "fair": false
							}]
						}
						""".formatted(handle.fencingToken(), handle.ownerId(), Thread.currentThread().getName()))
				.satisfies((body) -> {
					assertThat(body).doesNotHavePath("$.waiting[0].thread");
					assertThat(body).extractingPath("$.held[0].heldFor").asString().startsWith("PT");
					assertThat(body).extractingPath("$.held[0].remainingValidity").asString().startsWith("PT2");
					assertThat(body).extractingPath("$.waiting[0].waitedFor").asString().startsWith("PT");
					assertThat(body).extractingPath("$.waiting[0].remainingWait").asString().startsWith("PT");
				});
			handle.close();
			waiter.join().close();
		}));
	}

	@Test
	void listsAreLimitedButTotalsAreNot() {
		LockRequest request = LockRequest.of("stock", 42);
		this.runner.run(holding(request, (context, http, handle) -> {
			LockOperations locks = context.getBean(LockOperations.class);
			List<CompletableFuture<LockHandle>> waiters = Stream.generate(() -> locks.acquireAsync(request))
				.limit(1_001)
				.map(CompletionStage::toCompletableFuture)
				.toList();
			await().until(() -> context.getBean(LockInspector.class).waiting().size() == 1_001);
			for (String uri : List.of(URI, URI + "/stock:42")) {
				assertListed(http, uri, 1, 1_000);
				assertListed(http, uri + "?limit=2", 1, 2);
				assertListed(http, uri + "?limit=0", 0, 0);
				assertThat(http.get().uri(uri + "?limit=-1")).hasStatus(HttpStatus.BAD_REQUEST);
			}
			waiters.forEach((waiter) -> waiter.cancel(true));
		}));
	}

	private static void assertListed(MockMvcTester http, String uri, int held, int waiting) {
		assertThat(http.get().uri(uri)).as(uri).hasStatusOk().bodyJson().satisfies((body) -> {
			assertThat(body).extractingPath("$.held").asArray().hasSize(held);
			assertThat(body).extractingPath("$.waiting").asArray().hasSize(waiting);
			assertThat(body).extractingPath("$.total").isEqualTo(Map.of("held", 1, "waiting", 1_001));
		});
	}

	@Test
	void storeIsAskedAboutOneLock() {
		this.runner.run(holding(LockRequest.of("stock", "a/b"), (context, http, handle) -> {
			for (String uri : List.of(URI + "/stock:a/b", URI + "/stock?key=a/b", URI + "/stock:a/b?backend=LOCAL")) {
				assertThat(http.get().uri(uri)).as(uri).hasStatusOk().bodyJson().satisfies((body) -> {
					assertThat(body).extractingPath("$.lock").isEqualTo("stock:a/b");
					assertThat(body).extractingPath("$.backend").isEqualTo("local");
					assertThat(body).extractingPath("$.held[*].owner").asArray().containsExactly(handle.ownerId());
					assertThat(body).extractingPath("$.store.holders[*].owner")
						.asArray()
						.containsExactly(handle.ownerId());
					assertThat(body).extractingPath("$.store.holders[0].thisInstance").isEqualTo(true);
					assertThat(body).extractingPath("$.store.waiters").isEqualTo(0);
					assertThat(body).doesNotHavePath("$.error");
				});
			}
		}));
	}

	@Test
	void keyIsShownAsItIs() {
		this.runner.run(holding(LockRequest.of("stock", "a\nb"),
				(context, http, handle) -> assertThat(http.get().uri(URI)).bodyJson()
					.extractingPath("$.held[*].lock")
					.asArray()
					.containsExactly("stock:a\nb")));
	}

	@Test
	void lockThatIsNotUsedIsNotFound() {
		this.unrestricted.run((context) -> {
			MockMvcTester http = MockMvcTester.from(context);
			assertThat(http.get().uri(URI + "/stock:42")).hasStatus(HttpStatus.NOT_FOUND);
			assertThat(http.delete().uri(URI + "/stock:42")).hasStatus(HttpStatus.NOT_FOUND);
		});
	}

	@Test
	void invalidNameOrBackendIsABadRequest() {
		this.unrestricted.run((context) -> {
			MockMvcTester http = MockMvcTester.from(context);
			for (String uri : List.of(URI + "/st*ck", URI + "/stock:", URI + "/stock?key=",
					URI + "/stock?backend=none")) {
				assertThat(http.get().uri(uri)).as(uri).hasStatus(HttpStatus.BAD_REQUEST);
				assertThat(http.delete().uri(uri)).as(uri).hasStatus(HttpStatus.BAD_REQUEST);
			}
			assertThat(http.get().uri(URI + "/stock?backend=none")).bodyJson()
				.extractingPath("$.error")
				.asString()
				.contains("no lock backend 'none'", "configured: [local]");
			assertThat(http.delete().uri(URI + "/st*ck")).bodyJson()
				.extractingPath("$.error")
				.asString()
				.contains("st*ck");
		});
	}

	@Test
	void silentStoreLeavesTheLocksOfThisInstance() {
		this.unrestricted
			.withPropertyValues("distributed-lock.response-timeout=50ms", "distributed-lock.backend=silent")
			.withBean(SilentBackend.class)
			.run(holding(LockRequest.of("stock", 42), (context, http, handle) -> {
				assertThat(http.get().uri(URI + "/stock:42")).hasStatus(HttpStatus.SERVICE_UNAVAILABLE)
					.bodyJson()
					.satisfies((body) -> {
						assertThat(body).extractingPath("$.held[*].owner").asArray().containsExactly(handle.ownerId());
						assertThat(body).doesNotHavePath("$.store");
						assertThat(body).extractingPath("$.backend").isEqualTo("silent");
						assertThat(body).extractingPath("$.error").asString().contains("no response within 50ms");
					});
				assertThat(http.delete().uri(URI + "/stock:42")).hasStatus(HttpStatus.SERVICE_UNAVAILABLE);
				assertThat(handle.isHeld()).isTrue();
			}));
	}

	@Test
	void settingsForJsonOfTheApplicationDoNotChangeTheFormat() {
		this.runner.withPropertyValues("spring.jackson.property-naming-strategy=SNAKE_CASE")
			.run(holding(LockRequest.of("stock", 42),
					(context, http, handle) -> assertThat(http.get().uri(URI)).bodyJson()
						.extractingPath("$.held[0].heldFor")
						.asString()
						.startsWith("PT")));
	}

	@Test
	void severalSegmentsOfAPathDoNotNameTheLockToRelease() {
		this.unrestricted.run(holding(LockRequest.of("stock", "a/b"), (context, http, handle) -> {
			assertThat(http.delete().uri(URI + "/stock:a//b")).hasStatus(HttpStatus.BAD_REQUEST)
				.bodyJson()
				.extractingPath("$.error")
				.asString()
				.contains("?key=");
			assertThat(handle.isHeld()).isTrue();
			assertThat(http.delete().uri(URI + "/stock?key=a/b")).hasStatusOk();
			assertThat(handle.isHeld()).isFalse();
		}));
	}

	@Test
	void forcedReleaseNeedsAccess() {
		this.runner.run(holding(LockRequest.of("stock", 42), (context, http, handle) -> {
			assertThat(http.delete().uri(URI + "/stock:42")).hasStatus(HttpStatus.METHOD_NOT_ALLOWED);
			assertThat(handle.isHeld()).isTrue();
		}));
	}

	@Slow
	@Test
	void forcedReleaseFromAnotherHolderThanTheExpectedOneFails() {
		InMemoryAuditEventRepository audit = new InMemoryAuditEventRepository();
		this.unrestricted.withBean(AuditListener.class, () -> new AuditListener(audit))
			.run(holding(LockRequest.of("stock", 42), (context, http, handle) -> {
				String lock = URI + "/stock:42";
				for (String other : List.of("?owner=gone", "?owner=", "?token=1",
						"?owner=gone&token=" + handle.fencingToken())) {
					assertThat(http.delete().uri(lock + other)).as(other)
						.hasStatus(HttpStatus.PRECONDITION_FAILED)
						.bodyJson()
						.satisfies((body) -> {
							assertThat(body).extractingPath("$.error").asString().contains("Nothing is released");
							assertThat(body).extractingPath("$.holders[*].owner")
								.asArray()
								.containsExactly(handle.ownerId());
							assertThat(body).extractingPath("$.holders[*].token")
								.asArray()
								.containsExactly(handle.fencingToken().toString());
						});
				}
				assertThat(handle.isHeld()).isTrue();
				assertThat(audit.find(null, null, DistributedLocksEndpoint.AUDIT_TYPE)).hasSize(4)
					.first()
					.satisfies((event) -> assertThat(event.getData()).containsEntry("outcome",
							"not released: the holder was not owner gone"));
				assertThat(http.delete().uri(lock + "?owner=" + handle.ownerId() + "&token=" + handle.fencingToken()))
					.hasStatusOk();
				assertThat(handle.isHeld()).isFalse();
				assertThat(http.delete().uri(lock + "?owner=gone")).hasStatus(HttpStatus.NOT_FOUND);
			}));
	}

	@Test
	void forcedReleaseEvictsTheHolderAndIsAudited() {
		InMemoryAuditEventRepository audit = new InMemoryAuditEventRepository();
		Listener listener = new Listener();
		this.unrestricted.withBean(AuditListener.class, () -> new AuditListener(audit))
			.withInitializer((context) -> context.addApplicationListener(listener))
			.run(holding(LockRequest.of("stock", 42), (context, http, handle) -> {
				assertThat(http.delete().uri(URI + "/stock:42").principal(() -> "alice")).hasStatusOk()
					.bodyJson()
					.extractingPath("$.evicted[*].owner")
					.asArray()
					.containsExactly(handle.ownerId());
				assertThat(handle.isHeld()).isFalse();
				assertThat(context.getBean(LockInspector.class).find(LockName.of("stock", 42)).isHeld()).isFalse();
				assertThat(audit.find("alice", null, DistributedLocksEndpoint.AUDIT_TYPE)).singleElement()
					.satisfies((event) -> assertThat(event.getData())
						.isEqualTo(Map.of("lock", "stock:42", "backend", "local", "outcome", "released")));
				assertThat(listener.events).extracting(LockForceReleasedEvent::lock)
					.containsExactly(LockName.of("stock", 42));
			}));
	}

	@ParameterizedTest
	@CsvSource({ "silent, 50ms, (backend silent) was not released by force",
			"broken, 1m, it is unknown whether owner" })
	void failedReleaseIsAudited(String backend, String timeout, String outcome) {
		InMemoryAuditEventRepository audit = new InMemoryAuditEventRepository();
		this.unrestricted
			.withPropertyValues("distributed-lock.response-timeout=" + timeout, "distributed-lock.backend=" + backend)
			.withBean(SilentBackend.class)
			.withBean(BrokenBackend.class)
			.withBean(AuditListener.class, () -> new AuditListener(audit))
			.run(holding(LockRequest.of("stock", 42), (context, http, handle) -> {
				assertThat(http.delete().uri(URI + "/stock:42")).hasStatus(HttpStatus.SERVICE_UNAVAILABLE);
				assertThat(audit.find(null, null, DistributedLocksEndpoint.AUDIT_TYPE)).singleElement()
					.satisfies((event) -> assertThat(event.getData().get("outcome")).asString().contains(outcome));
			}));
	}

	@Test
	void endpointIsNotExposedUnlessIncluded() {
		this.runner.withPropertyValues("management.endpoints.web.exposure.include=health")
			.run((context) -> assertThat(context).hasNotFailed()
				.hasSingleBean(LockInspector.class)
				.doesNotHaveBean(DistributedLocksEndpoint.class));
	}

	@Test
	void endpointIsAvailableOverJmx() {
		this.runner
			.withPropertyValues("spring.jmx.enabled=true", "management.endpoints.jmx.exposure.include=distributedlocks",
					"management.endpoints.jmx.domain=io.holdfast.test")
			.withConfiguration(AutoConfigurations.of(JmxAutoConfiguration.class, JmxEndpointAutoConfiguration.class))
			.run(holding(LockRequest.of("stock", 42), (context, http, handle) -> {
				MBeanServer server = context.getBean(MBeanServer.class);
				ObjectName name = server.queryNames(new ObjectName("io.holdfast.test:name=Distributedlocks,*"), null)
					.iterator()
					.next();
				assertThat(server.invoke(name, "locks", new Object[] { null }, new String[] { Integer.class.getName() })
					.toString()).contains("stock:42", handle.ownerId());
				assertThat(server
					.invoke(name, "lock", new Object[] { new String[] { "stock:42" }, null, null, null },
							new String[] { String[].class.getName(), String.class.getName(), String.class.getName(),
									Integer.class.getName() })
					.toString()).contains("store", handle.ownerId());
				assertThatException()
					.isThrownBy(() -> server.invoke(name, "lock",
							new Object[] { new String[] { "stock:j", "3" }, null, null, null },
							new String[] { String[].class.getName(), String.class.getName(), String.class.getName(),
									Integer.class.getName() }))
					.withStackTraceContaining("parts with commas between them")
					.withMessageContaining("Pass the key")
					.withMessageNotContaining("released");
			}));
	}

	@Test
	void actuatorIsOptional() {
		new WebApplicationContextRunner().withPropertyValues("distributed-lock.backend=local")
			.withConfiguration(
					AutoConfigurations.of(DistributedLockAutoConfiguration.class, LocalLockAutoConfiguration.class,
							LockInspectorAutoConfiguration.class, LockEndpointAutoConfiguration.class))
			.withClassLoader(new FilteredClassLoader(Endpoint.class))
			.run((context) -> assertThat(context).hasNotFailed()
				.hasSingleBean(LockInspector.class)
				.doesNotHaveBean("distributedLocksEndpoint"));
	}

	@Test
	void disabledLocksHaveNoInspectorAndNoEndpoint() {
		this.runner.withPropertyValues("distributed-lock.enabled=false")
			.run((context) -> assertThat(context).hasNotFailed()
				.doesNotHaveBean(LockInspector.class)
				.doesNotHaveBean(DistributedLocksEndpoint.class));
	}

	/** The body of a test that runs while a lock is held. */
	private interface Case {

		void run(AssertableWebApplicationContext context, MockMvcTester http, LockHandle handle) throws Exception;

	}

	private static final class Listener
			implements ApplicationListener<PayloadApplicationEvent<LockForceReleasedEvent>> {

		private final List<LockForceReleasedEvent> events = new CopyOnWriteArrayList<>();

		@Override
		public void onApplicationEvent(PayloadApplicationEvent<LockForceReleasedEvent> event) {
			this.events.add(event.getPayload());
		}

	}

}
