package io.holdfast.lock.autoconfigure;

import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.jdbc.core.JdbcTemplate;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.backend.etcd.EtcdLockBackend;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for settings with unintended meaning.
 */
@ExtendWith(OutputCaptureExtension.class)
class SettingsCheckTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(DistributedLockAutoConfiguration.class, LocalLockAutoConfiguration.class,
						EtcdLockAutoConfiguration.class, LockInterceptorAutoConfiguration.class))
		.withPropertyValues("distributed-lock.backend=local");

	@ParameterizedTest
	@ValueSource(strings = { "wait-time", "lease-time", "startup-timeout", "leaseTime" })
	void durationWithoutAUnitStopsTheStart(String name) {
		this.runner.withPropertyValues("distributed-lock." + name + "=50")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.message()
				.contains("is '50', which has no unit. Write '50s' or '50ms'"));
	}

	@Test
	void fenceThatIsRequestedWithoutSpringJdbcStopsTheStart() {
		ApplicationContextRunner withoutJdbc = this.runner.withClassLoader(new FilteredClassLoader(JdbcTemplate.class));
		withoutJdbc.withPropertyValues("distributed-lock.fencing.enabled=true")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.message()
				.contains("'distributed-lock.fencing.enabled' is 'true'", "Add 'spring-boot-starter-jdbc'"));
		withoutJdbc.withPropertyValues("distributed-lock.fencing.enabled=false")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	/** Its settings are those of the application, but not always its class path. */
	@Test
	void sliceWithoutSpringJdbcStartsThoughTheFenceIsRequested() {
		this.runner.withClassLoader(new FilteredClassLoader(JdbcTemplate.class))
			.withBean(LockSlice.class)
			.withPropertyValues("distributed-lock.fencing.enabled=true")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void zeroNeedsNoUnit() {
		this.runner.withPropertyValues("distributed-lock.wait-time=0")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@ParameterizedTest
	@MethodSource("durations")
	void durationOfMoreThanAYearStopsTheStart(String name) {
		this.runner.withPropertyValues("distributed-lock." + name + "=367d")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(LockConfigurationException.class)
				.message()
				.contains("'distributed-lock.%s' is 367d.".formatted(name), "366d"));
	}

	static List<String> durations() {
		return SettingsCheck.DURATIONS;
	}

	@Test
	void blankNamespaceStopsTheStart() {
		this.runner.withPropertyValues("distributed-lock.namespace= ")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(LockConfigurationException.class)
				.hasMessageContaining("'distributed-lock.namespace' is blank"));
	}

	/** As of a quoted value or an environment variable of one instance. */
	@ParameterizedTest
	@ValueSource(strings = { "shop ", " shop", "shop\t", "shop\u00a0", "\u200bshop" })
	void namespaceWithSurroundingBlanksStopsTheStart(String namespace) {
		MapPropertySource quoted = new MapPropertySource("quoted", Map.of("distributed-lock.namespace", namespace));
		this.runner.withInitializer((context) -> context.getEnvironment().getPropertySources().addFirst(quoted))
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(LockConfigurationException.class)
				.hasMessageContaining("starts or ends with a blank")
				.hasMessageContaining("Remove the blank"));
	}

	/** Spring Boot would leave the placeholder in the names of all locks. */
	@Test
	void unresolvedPlaceholderInTheNamespaceStopsTheStart() {
		this.runner.withPropertyValues("distributed-lock.namespace=${shop.namespace}")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(LockConfigurationException.class)
				.hasMessageContaining("'distributed-lock.namespace' is '${shop.namespace}'")
				.hasMessageContaining("Set the property in the placeholder"));
		this.runner.withPropertyValues("distributed-lock.namespace=${shop.namespace}", "shop.namespace=shop")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void durationOfAnAnnotationNeedsAUnit() {
		this.runner.withBean(Shop.class)
			.run((context) -> assertThat(context.getStartupFailure())
				.hasStackTraceContaining("its waitTime is '5', which has no unit. Write '5s' or '5ms'"));
	}

	@ParameterizedTest
	@CsvSource({ "distributed-lock.bakend,distributed-lock.backend", "holdfast.backend,distributed-lock.backend",
			"distributed-lock.etcd.endpoint,distributed-lock.etcd.endpoints",
			"holdfast.wait-time,distributed-lock.wait-time", "distributed-locks.wait-time,distributed-lock.wait-time",
			"distributed-lok.backend,distributed-lock.backend",
			"spring.distributed-lock.backend,distributed-lock.backend",
			"distributed.lock.wait-time,distributed-lock.wait-time",
			"distributed-lock.zookeeper.connectstring,spring.cloud.zookeeper.connect-string",
			"distributed-lock.zookeeper.session-timeout,spring.cloud.zookeeper.session-timeout" })
	void unknownNameIsReportedWithTheNearest(String name, String nearest, CapturedOutput output) {
		this.runner
			.withPropertyValues(name + "=http://127.0.0.1:1", "distributed-lock.fail-fast=false",
					"distributed-lock.etcd.endpoints[0]=http://127.0.0.1:1")
			.run((context) -> assertThat(output).contains(
					"The property '%s' is unknown and has no effect. Did you mean '%s'?".formatted(name, nearest)));
	}

	@ParameterizedTest
	@CsvSource({ "DISTRIBUTED_LOCK_WAIT_TME,DISTRIBUTED_LOCK_WAIT_TIME",
			"DISTRIBUTED_LOCK_REDIS_ADRESS,DISTRIBUTED_LOCK_REDIS_ADDRESS" })
	void unknownEnvironmentVariableIsReportedWithTheNearest(String name, String nearest, CapturedOutput output) {
		this.runner.withInitializer((context) -> environment(context, Map.of(name, "5s")))
			.run((context) -> assertThat(output)
				.contains("The environment variable '%s' is unknown and has no effect. Did you mean '%s'?"
					.formatted(name, nearest)));
	}

	/** Such a variable may be the value of a placeholder. */
	@Test
	void otherEnvironmentVariablesAreNotReported(CapturedOutput output) {
		this.runner
			.withInitializer((context) -> environment(context,
					Map.of("DISTRIBUTED_LOCK_SECRET_OF_THE_TEAM", "x", "DISTRIBUTED_LOCK_ETCD_ENDPOINTS_0",
							"http://h:1", "DISTRIBUTED_LOCK_FAIL_FAST", "false", "DISTRIBUTED_TRACING", "x")))
			.run((context) -> {
				assertThat(context).hasNotFailed().hasSingleBean(EtcdLockBackend.class);
				assertThat(output).doesNotContain("has no effect");
			});
	}

	private static void environment(ConfigurableApplicationContext context, Map<String, Object> variables) {
		context.getEnvironment()
			.getPropertySources()
			.addFirst(new SystemEnvironmentPropertySource(StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
					variables));
	}

	@Test
	void unknownNameWithoutASimilarOneIsReported(CapturedOutput output) {
		this.runner.withPropertyValues("distributed-lock.quite-unlike=1")
			.run((context) -> assertThat(output).contains(
					"The property 'distributed-lock.quite-unlike' is unknown and has no effect. Remove it, or see the list"));
	}

	/** Another library, or the application, may read such a name. */
	@Test
	void otherNamesUnderASimilarPrefixAreNotReported(CapturedOutput output) {
		this.runner.withPropertyValues("distributed.lock.owner-column=owner", "distributed.lock=yes")
			.run((context) -> assertThat(output).doesNotContain("has no effect"));
	}

	@Test
	void knownNamesAreAcceptedInAnySpelling(CapturedOutput output) {
		this.runner
			.withInitializer((context) -> environment(context,
					Map.of("DISTRIBUTEDLOCK_WAITTIME", "5s", "DISTRIBUTED_LOCK_LEASE_TIME", "30s")))
			.withPropertyValues("distributed-lock.etcd.endpoints[0]=http://127.0.0.1:1",
					"distributedLock.failFast=false", "distributed-lock.etcd.ssl.bundle=")
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(output).doesNotContain("has no effect");
			});
	}

	@Test
	void leaseThatTheDefaultStoreDoesNotSupportStopsTheStart() {
		this.runner
			.withPropertyValues("distributed-lock.backend=etcd", "distributed-lock.etcd.endpoints=http://127.0.0.1:1",
					"distributed-lock.fail-fast=false", "distributed-lock.lease-time=1s")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.message()
				.contains("'distributed-lock.lease-time' asks for a lease of 1s", "'etcd' keeps none shorter than"));
	}

	static class Shop {

		@DistributedLock(name = "shop", waitTime = "5")
		public void sell() {
		}

	}

}
