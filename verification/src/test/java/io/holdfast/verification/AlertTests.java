package io.holdfast.verification;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.PostgresServer;
import io.holdfast.lock.test.server.PrometheusServer;
import io.holdfast.lock.test.server.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests the alerting rules and the dashboard with a real Prometheus, which reads the
 * sample application while each threshold is crossed. The rules are those that users
 * load, with seconds instead of minutes.
 */
@Slow
class AlertTests {

	private static final Path MONITORING = Path.of("..", "docs", "operating", "monitoring");

	private static final Set<String> RATIOS = Set.of("HoldfastAcquireSlow", "HoldfastContention", "HoldfastHoldLong",
			"HoldfastNotAcquired");

	private static final long PRODUCT = 1;

	private static final int BUYERS = 3;

	private static final int ORDERS = 12;

	/** More than four fifths of a lease, and of what a caller waits for it. */
	private static final int THINK_MILLIS = 1_700;

	private static final JsonMapper JSON = new JsonMapper();

	@AutoClose
	private static final RedisServer redis = RedisServer.started();

	@AutoClose
	private static final PostgresServer database = PostgresServer.started();

	@AutoClose
	private static final SampleProcess sample = new SampleProcess(
			List.of("--spring.profiles.active=postgres,redis", "--spring.datasource.url=" + database.jdbcUrl(),
					"--spring.datasource.username=" + PostgresServer.USERNAME, "--spring.datasource.password=",
					"--distributed-lock.redis.address=" + redis.address(), "--distributed-lock.lease-time=2s",
					"--distributed-lock.wait-time=2s", "--distributed-lock.response-timeout=500ms"));

	@AutoClose
	private static PrometheusServer prometheus;

	@BeforeAll
	static void start() throws Exception {
		sample.start();
		prometheus = PrometheusServer.started(sample.port(), inSeconds(Files.readString(rules())));
		Load.setStock(sample, PRODUCT, Sale.STOCK);
	}

	private static Path rules() {
		return MONITORING.resolve("holdfast-rules.yml");
	}

	private static String inSeconds(String rules) {
		return rules.replaceAll("\\[[15]m]", "[3s]").replaceAll("for: \\d+m", "for: 1s");
	}

	@Test
	void rulesPassTheirUnitTests() {
		assertThat(PrometheusServer.tool("check", "rules", rules().toString())).endsWith("exit code 0");
		assertThat(PrometheusServer.tool("test", "rules", MONITORING.resolve("holdfast-rules-test.yml").toString()))
			.contains("SUCCESS")
			.endsWith("exit code 0");
	}

	@Test
	void everyAlertFiresAndResolves() throws Exception {
		Instant begin = Instant.now();
		AtomicBoolean closed = new AtomicBoolean();
		CompletableFuture<Void> buyers = CompletableFuture.runAsync(() -> buyUntil(closed));
		try {
			awaitFiring(RATIOS);
			// again and again: there may be no holder at the moment
			await("a lost lock is reported", () -> {
				redis.ask("flushall");
				return firing().contains("HoldfastLockLost");
			});
			execute("update holdfast_fence set token = 9000000000000000000");
			awaitFiring(Set.of("HoldfastFencingRejected"));
			execute("delete from holdfast_fence");
			redis.pause();
			awaitFiring(Set.of("HoldfastStoreDown"));
		}
		finally {
			redis.resume();
			closed.set(true);
			buyers.join();
		}
		await("nothing fires", () -> firing().isEmpty());
		if (Boolean.getBoolean("docs.write")) {
			int seconds = (int) Duration.between(begin, Instant.now()).toSeconds();
			Files.writeString(MONITORING.resolve("dashboard.svg"),
					new DashboardPicture(prometheus, seconds).draw(dashboard()));
		}
	}

	private static void buyUntil(AtomicBoolean closed) {
		while (!closed.get()) {
			try {
				new Load(PRODUCT, ORDERS, BUYERS, THINK_MILLIS, "distributed").run(List.of(sample));
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
		}
	}

	private static void execute(String statement) throws SQLException {
		try (Connection connection = DriverManager.getConnection(database.jdbcUrl(), PostgresServer.USERNAME, "");
				Statement sql = connection.createStatement()) {
			sql.execute(statement);
		}
	}

	private static void awaitFiring(Set<String> alerts) {
		Set<String> seen = new HashSet<>();
		await(alerts + " fire", () -> {
			seen.addAll(firing());
			return seen.containsAll(alerts);
		});
	}

	private static Set<String> firing() throws IOException {
		return JSON.readTree(prometheus.alerts())
			.at("/data/alerts")
			.valueStream()
			.filter((alert) -> alert.path("state").stringValue().equals("firing"))
			.map((alert) -> alert.at("/labels/alertname").stringValue())
			.collect(Collectors.toSet());
	}

	@ParameterizedTest
	@MethodSource("panels")
	void panelOfTheDashboardHasData(String title, String expression) throws Exception {
		await("panel '" + title + "' has data", () -> !data(expression).isEmpty());
	}

	static Stream<Arguments> panels() throws IOException {
		return dashboard().path("panels")
			.valueStream()
			.flatMap((panel) -> panel.path("targets")
				.valueStream()
				.map((target) -> Arguments.of(panel.path("title").stringValue(), target.path("expr").stringValue())));
	}

	private static JsonNode dashboard() throws IOException {
		return JSON.readTree(Files.readString(MONITORING.resolve("holdfast-dashboard.json")));
	}

	private static JsonNode data(String expression) throws IOException {
		return JSON.readTree(prometheus.query(DashboardPicture.forAll(expression, "1m"))).at("/data/result");
	}

	private static void await(String what, Callable<Boolean> condition) {
		Awaitility.await(what).atMost(Duration.ofSeconds(60)).until(condition);
	}

}
