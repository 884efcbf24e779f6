package io.holdfast.lock.autoconfigure;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import io.lettuce.core.resource.ClientResources;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.redisson.api.RedissonClient;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.redis.connection.ReactiveRedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.backend.redis.RedisLockBackend;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.RedisServer;
import io.holdfast.lock.test.server.ServerProcess;

import static io.holdfast.lock.autoconfigure.RedisLockAutoConfigurationTests.analysis;
import static io.holdfast.lock.autoconfigure.RedisLockAutoConfigurationTests.assertLocks;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the Lettuce of an application, which Spring Data Redis brings.
 */
@ExtendWith(OutputCaptureExtension.class)
class LettuceOfApplicationTests {

	@AutoClose
	private static final RedisServer server = RedisServer.started();

	private final ApplicationContextRunner runner = new ApplicationContextRunner().withConfiguration(AutoConfigurations
		.of(DataRedisAutoConfiguration.class, RedisLockAutoConfiguration.class, RedlockLockAutoConfiguration.class,
				LocalLockAutoConfiguration.class, DistributedLockAutoConfiguration.class));

	private final ApplicationContextRunner here = this.runner
		.withPropertyValues("spring.data.redis.port=" + server.port());

	@Test
	void springDataRedisSufficesWithoutRedisson(CapturedOutput output) {
		this.here.withClassLoader(new FilteredClassLoader("org.redisson")).run((context) -> {
			assertThat(context).doesNotHaveBean(RedissonClient.class);
			assertThat(output).contains("Lock backend 'redis' uses Lettuce (");
			assertLocks(context, server);
			assertThat(clients()).contains("name=holdfast");
		});
	}

	/** Locks must not go to a server that no one named. */
	@Test
	void severalFactoriesAreAmbiguous() {
		this.runner.withBean("one", LettuceConnectionFactory.class, () -> factory(server.port()))
			.withBean("two", LettuceConnectionFactory.class, () -> factory(ServerProcess.freePort()))
			.withClassLoader(new FilteredClassLoader("org.springframework.data.redis.core.RedisTemplate"))
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(LockConfigurationException.class)
				.hasMessageContaining("There are several RedisConnectionFactory beans, [one, two]")
				.hasMessageContaining("Mark one with @Primary, or set 'distributed-lock.redis.address'"));
	}

	private static LettuceConnectionFactory factory(int port) {
		return new LettuceConnectionFactory("127.0.0.1", port);
	}

	@Test
	void ownAddressSufficesWithoutRedisson() {
		this.runner.withClassLoader(new FilteredClassLoader("org.redisson", "org.springframework.data.redis"))
			.withPropertyValues("distributed-lock.redis.address=" + server.address())
			.run((context) -> assertLocks(context, server));
	}

	@Slow
	@Test
	void connectionsAreOfLocksAloneAndThreadsAreShared() {
		this.here.run((context) -> {
			RedisLockBackend backend = context.getBean(RedisLockBackend.class);
			assertThat(context.getBean(StringRedisTemplate.class).opsForValue().get("any")).isNull();
			assertThat(clients().lines()).anyMatch((line) -> line.contains("name=holdfast"))
				.anyMatch((line) -> !line.contains("name=holdfast"));
			assertThat(backend.answersOn(Thread.currentThread())).isFalse();
			assertThat(backend.answersOn(loopOf(context))).isTrue();
		});
	}

	@Test
	void waitOnAnEventLoopIsRefused() {
		this.here.run((context) -> {
			LockOperations locks = context.getBean(LockOperations.class);
			CompletableFuture<LockHandle> handle = onLoop(context, () -> locks.acquire(LockRequest.of("stock", 42)));
			assertThat(handle).failsWithin(1, TimeUnit.MINUTES)
				.withThrowableThat()
				.havingCause()
				.isInstanceOf(LockConfigurationException.class)
				.withMessageContaining("delivers the responses of backend");
		});
	}

	@Test
	void ownFactoryOfTheApplicationNamesTheServer() {
		LettuceConnectionFactory factory = new LettuceConnectionFactory(
				new RedisStandaloneConfiguration("127.0.0.1", server.port()));
		this.runner.withBean(LettuceConnectionFactory.class, () -> factory)
			.withPropertyValues("spring.data.redis.port=" + ServerProcess.freePort())
			.run((context) -> assertLocks(context, server));
		int port = ServerProcess.freePort();
		this.runner.withBean(LettuceConnectionFactory.class, () -> new LettuceConnectionFactory("127.0.0.1", port))
			.withPropertyValues("distributed-lock.startup-timeout=100ms")
			.run((context) -> assertThat(analysis(context).getDescription())
				.contains("your LettuceConnectionFactory bean", "127.0.0.1:" + port));
	}

	@Test
	void masterAmongReplicasNeedsRedisson() {
		ApplicationContextRunner replicas = this.runner.withBean(LettuceConnectionFactory.class, () -> {
			RedisStaticMasterReplicaConfiguration nodes = new RedisStaticMasterReplicaConfiguration("127.0.0.1",
					server.port());
			return new LettuceConnectionFactory(nodes);
		}).withPropertyValues("spring.data.redis.masterreplica.nodes=127.0.0.1:" + server.port());
		replicas.run((context) -> assertLocks(context, server));
		replicas.withPropertyValues("distributed-lock.redis.client=lettuce")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("'spring.data.redis.masterreplica'")
				.hasMessageContaining("org.redisson:redisson"));
	}

	@Test
	void libraryThatIsMissingIsNamed() {
		this.here.withClassLoader(new FilteredClassLoader("org.redisson"))
			.withPropertyValues("distributed-lock.redis.client=redisson")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("'distributed-lock.redis.client' is 'redisson'")
				.hasMessageContaining("org.redisson:redisson"));
		this.runner
			.withClassLoader(new FilteredClassLoader("org.redisson", "io.lettuce", "org.springframework.data.redis"))
			.withPropertyValues("distributed-lock.redis.client=lettuce")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("dependency 'org.springframework.boot:spring-boot-starter-data-redis' and set")
				.hasMessageNotContaining("RedissonClient"));
	}

	@Test
	void redissonIsUsedIfItIsAskedFor(CapturedOutput output) {
		this.here.withPropertyValues("distributed-lock.redis.client=redisson").run((context) -> {
			assertThat(output).contains("Lock backend 'redis' uses Redisson ('spring.data.redis')");
			assertLocks(context, server);
			assertThat(context.getBean(RedisLockBackend.class).answersOn(loopOf(context))).isFalse();
		});
	}

	@Test
	void locksAreReleasedBeforeTheThreadsOfTheApplicationStop() {
		this.here.run((context) -> {
			LockHandle handle = context.getBean(LockOperations.class).acquire(LockRequest.of("auto", "closing"));
			CompletableFuture.delayedExecutor(300, TimeUnit.MILLISECONDS).execute(handle::close);
			ClientResources resources = context.getBean(ClientResources.class);
			context.close();
			assertThat(handle.isHeld()).isFalse();
			assertThat(server.ask("exists", "holdfast:{auto:closing}:lock")).isEqualTo("0");
			assertThat(resources.eventExecutorGroup().isShuttingDown()).isTrue();
		});
	}

	private static Thread loopOf(AssertableApplicationContext context) {
		return onLoop(context, Thread::currentThread).orTimeout(1, TimeUnit.MINUTES).join();
	}

	/**
	 * Runs a task on the event loop that delivers a response to the application. The
	 * server responds only after the subscription, which could otherwise receive the
	 * response on the thread that subscribes.
	 */
	private static <T> CompletableFuture<T> onLoop(AssertableApplicationContext context, Supplier<T> task) {
		CompletableFuture<T> result = new CompletableFuture<>();
		context.getBean(ReactiveRedisConnectionFactory.class)
			.getReactiveConnection()
			.listCommands()
			.blPop(List.of(StandardCharsets.US_ASCII.encode("loop")), Duration.ofMinutes(1))
			.subscribe((element) -> {
				try {
					result.complete(task.get());
				}
				catch (LockConfigurationException ex) {
					result.completeExceptionally(ex);
				}
			});
		server.ask("rpush", "loop", "now");
		return result;
	}

	private static String clients() {
		return server.ask("client", "list");
	}

}
