package io.holdfast.lock.autoconfigure;

import java.util.Map;

import javax.sql.DataSource;

import io.etcd.jetcd.Client;
import io.lettuce.core.RedisClient;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.api.RedissonClient;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.test.Slow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

/**
 * Tests for the rule that decides whether a store is configured, and for configured
 * stores that cannot be used.
 */
@ExtendWith(OutputCaptureExtension.class)
class LockStoreTests {

	private static final ClassLoader NO_CLIENTS = new FilteredClassLoader(RedissonClient.class, RedisClient.class,
			CuratorFramework.class, Client.class, ResourceDatabasePopulator.class);

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
				LocalLockAutoConfiguration.class, RedisLockAutoConfiguration.class, RedlockLockAutoConfiguration.class,
				ZooKeeperLockAutoConfiguration.class, EtcdLockAutoConfiguration.class, JdbcLockAutoConfiguration.class,
				LockInterceptorAutoConfiguration.class))
		.withPropertyValues("distributed-lock.fail-fast=false");

	private static void assertStopsWith(ApplicationContextRunner runner, String... texts) {
		runner.run((context) -> assertThat(context).getFailure().rootCause().message().contains(texts));
	}

	private static void assertDefault(ApplicationContextRunner runner, String store) {
		runner.run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(context.getBean(LockBackends.class).defaultName()).isEqualTo(store);
		});
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', value = {
			"redis.address=redis://127.0.0.1:1|distributed-lock.redis.*|org.redisson:redisson",
			"redis.wait-replicas=1|distributed-lock.redis.*|org.redisson:redisson",
			"redlock.nodes=redis://a:1,redis://b:1,redis://c:1|distributed-lock.redlock.*|org.redisson:redisson",
			"etcd.endpoints[0]=http://127.0.0.1:1|distributed-lock.etcd.*|io.etcd:jetcd-core",
			"zookeeper.base-path=/locks|distributed-lock.zookeeper.*|curator-recipes",
			"jdbc.table=locks|distributed-lock.jdbc.*|spring-boot-starter-jdbc" })
	void settingOfAStoreWithoutItsClientStopsTheStart(String setting, String evidence, String dependency) {
		ApplicationContextRunner without = this.runner.withClassLoader(NO_CLIENTS)
			.withPropertyValues("distributed-lock." + setting);
		assertStopsWith(without, evidence, dependency);
		assertStopsWith(without.withPropertyValues("distributed-lock.backend=local"), evidence, dependency);
	}

	@ParameterizedTest
	@CsvSource({ "redis,org.redisson:redisson", "redlock,org.redisson:redisson", "etcd,io.etcd:jetcd-core",
			"zookeeper,curator-recipes", "jdbc,spring-boot-starter-jdbc" })
	void namedStoreWithoutItsClientStopsTheStart(String store, String dependency) {
		assertStopsWith(
				this.runner.withClassLoader(NO_CLIENTS)
					.withPropertyValues("distributed-lock.backend=" + store, "spring.data.redis.host=127.0.0.1"),
				"'distributed-lock.backend' names it", dependency);
	}

	@ParameterizedTest
	@CsvSource({ "spring.data.redis.host,127.0.0.1,redis", "spring.data.redis.cluster.nodes[0],127.0.0.1:1,redis",
			"spring.data.redis.sentinel.master,shop,redis", "spring.cloud.zookeeper.connect-string,h:1,zookeeper" })
	void settingOfAnotherLibrarySelectsAStoreUnlessOneIsNamed(String setting, String value, String store) {
		ApplicationContextRunner without = this.runner.withClassLoader(NO_CLIENTS)
			.withPropertyValues(setting + "=" + value);
		assertStopsWith(without, "The backend '%s' is configured".formatted(store), "set 'distributed-lock.backend'");
		assertDefault(without.withPropertyValues("distributed-lock.backend=local"), "local");
	}

	@Test
	void redisOfTheApplicationWithoutAClientForLocksStopsTheStart() {
		ApplicationContextRunner cache = this.runner
			.withBean(DataRedisConnectionDetails.class, () -> new DataRedisConnectionDetails() {
			})
			.withClassLoader(NO_CLIENTS);
		assertStopsWith(cache, "because the DataRedisConnectionDetails bean", "org.redisson:redisson",
				"spring-boot-starter-data-redis");
		assertDefault(cache.withPropertyValues("distributed-lock.backend=local"), "local");
	}

	@Test
	void redisThatOnlyConnectionDetailsNameIsUsed() {
		assertDefault(this.runner.withBean(DataRedisConnectionDetails.class, LockStoreTests::details), "redis");
	}

	private static DataRedisConnectionDetails details() {
		return new DataRedisConnectionDetails() {

			@Override
			public Standalone getStandalone() {
				return Standalone.of("127.0.0.1", 1);
			}

		};
	}

	/** A connection factory needs no details. */
	@Test
	void severalConnectionDetailsAreAmbiguous() {
		ApplicationContextRunner several = this.runner
			.withBean("one", DataRedisConnectionDetails.class, LockStoreTests::details)
			.withBean("two", DataRedisConnectionDetails.class, LockStoreTests::details);
		assertStopsWith(several, "There are several DataRedisConnectionDetails beans, [one, two]",
				"Mark one with @Primary, or set 'distributed-lock.redis.address'");
		assertDefault(
				several.withBean(RedisConnectionFactory.class, () -> new LettuceConnectionFactory("127.0.0.1", 1)),
				"redis");
	}

	@Test
	void connectionFactoryOfLettuceIsUsed() {
		assertDefault(
				this.runner.withBean(RedisConnectionFactory.class, () -> new LettuceConnectionFactory("127.0.0.1", 1)),
				"redis");
	}

	@Test
	void connectionFactoryWithoutAnAddressStopsTheStart() {
		ApplicationContextRunner factory = this.runner.withBean(RedisConnectionFactory.class,
				() -> mock(RedisConnectionFactory.class));
		assertStopsWith(factory, "its address is unknown", "distributed-lock.redis.address");
		assertStopsWith(factory.withClassLoader(NO_CLIENTS), "because the RedisConnectionFactory bean",
				"org.redisson:redisson");
		assertDefault(factory.withPropertyValues("distributed-lock.backend=local"), "local");
	}

	@Test
	void curatorOfTheApplicationIsUsed() {
		assertDefault(this.runner.withBean(CuratorFramework.class,
				() -> CuratorFrameworkFactory.newClient("127.0.0.1:1", new RetryOneTime(100))), "zookeeper");
	}

	@Test
	void clientOfEtcdWithoutEndpointsStopsTheStart() {
		ApplicationContextRunner client = this.runner.withBean(Client.class,
				() -> Client.builder().endpoints("http://127.0.0.1:1").build());
		assertStopsWith(client, "distributed-lock.etcd.endpoints");
		assertDefault(client.withPropertyValues("distributed-lock.backend=local"), "local");
	}

	@Test
	void databaseOfTheApplicationSelectsNoStore() {
		assertDefault(
				this.runner.withBean(DataSource.class, () -> new DriverManagerDataSource("jdbc:h2:mem:says-nothing")),
				"local");
	}

	@Test
	void severalStoresConfiguredByClientsAloneStopTheStart() {
		assertStopsWith(
				this.runner
					.withBean(CuratorFramework.class,
							() -> CuratorFrameworkFactory.newClient("127.0.0.1:1", new RetryOneTime(100)))
					.withPropertyValues("distributed-lock.etcd.endpoints=http://127.0.0.1:1"),
				"Several backends are configured", "zookeeper", "etcd");
	}

	@Test
	void ambiguityIsReportedBeforeAnUnreachableStore() {
		assertStopsWith(
				this.runner.withPropertyValues("distributed-lock.redis.address=redis://127.0.0.1:1",
						"distributed-lock.etcd.endpoints=http://127.0.0.1:1", "distributed-lock.fail-fast=true"),
				"Several backends are configured, [redis, etcd]");
	}

	@Test
	void clientOfAnotherStoreDoesNotStopTheStart() {
		assertDefault(this.runner
			.withBean(CuratorFramework.class,
					() -> CuratorFrameworkFactory.newClient("127.0.0.1:1", new RetryOneTime(100)))
			.withPropertyValues("distributed-lock.backend=local", "distributed-lock.fail-fast=true"), "local");
	}

	@Test
	void environmentVariableIsASetting() {
		assertStopsWith(
				this.runner.withClassLoader(NO_CLIENTS)
					.withInitializer((context) -> context.getEnvironment()
						.getPropertySources()
						.addFirst(new SystemEnvironmentPropertySource(
								StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
								Map.of("DISTRIBUTEDLOCK_ETCD_ENDPOINTS", "http://127.0.0.1:1")))),
				"io.etcd:jetcd-core");
	}

	@Slow
	@ParameterizedTest
	@ValueSource(strings = { "redis", "redlock", "etcd", "zookeeper", "jdbc", "local" })
	void blanksAndCaseOfANameDoNotMatter(String store) {
		assertDefault(this.runner
			.withBean(CuratorFramework.class,
					() -> CuratorFrameworkFactory.newClient("127.0.0.1:1", new RetryOneTime(100)))
			.withBean(DataSource.class, () -> new DriverManagerDataSource("jdbc:h2:mem:blanks"))
			.withBean(Shop.class)
			.withPropertyValues("distributed-lock.backend= " + store.toUpperCase() + " ", "shop.store=" + store + " ",
					"distributed-lock.redis.address=redis://127.0.0.1:1",
					"distributed-lock.redlock.nodes=redis://127.0.0.1:1,redis://127.0.0.1:2,redis://127.0.0.1:3",
					"distributed-lock.etcd.endpoints=http://127.0.0.1:1"),
				store);
	}

	@Test
	void nearestNameIsReported() {
		assertStopsWith(this.runner.withPropertyValues("distributed-lock.backend=zookeper"),
				"no such backend exists. Did you mean 'zookeeper'?");
	}

	@Test
	void storeNotConfiguredAheadOfTimeStopsTheStart() {
		new ApplicationContextRunner()
			.withConfiguration(
					AutoConfigurations.of(DistributedLockAutoConfiguration.class, LocalLockAutoConfiguration.class))
			.withPropertyValues("distributed-lock.redis.address=redis://127.0.0.1:1")
			.withSystemProperties("spring.aot.enabled=true")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.message()
				.contains("processed ahead of time", "Set 'distributed-lock.backend=redis' for the build"));
	}

	@Test
	void localStoreIsTheDefaultWithoutSettings(CapturedOutput output) {
		assertDefault(this.runner, "local");
		assertThat(output).contains("No backend is configured");
	}

	static class Shop {

		@DistributedLock(name = "shop", backend = "${shop.store}")
		public void sell() {
		}

	}

}
