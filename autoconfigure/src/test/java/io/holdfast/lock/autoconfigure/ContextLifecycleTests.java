package io.holdfast.lock.autoconfigure;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import javax.sql.DataSource;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.target.EmptyTargetSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.scheduling.concurrent.ExecutorConfigurationSupport;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockContext;
import io.holdfast.lock.LockException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockLostException;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockNotAcquiredException;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.StaleFencingTokenException;
import io.holdfast.lock.engine.LockEngine;
import io.holdfast.lock.fencing.FencingGuard;
import io.holdfast.lock.spi.observation.LockObserver;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.ServerProcess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verifyNoInteractions;

/**
 * Tests how an application context treats the locks of other contexts, and its own locks
 * when it is closed.
 */
@ExtendWith(OutputCaptureExtension.class)
class ContextLifecycleTests {

	private static final LockRequest STOCK = LockRequest.of("stock", 42);

	private final DataSource dataSource = new DriverManagerDataSource("jdbc:h2:mem:lifecycle;DB_CLOSE_DELAY=-1");

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(DistributedLockAutoConfiguration.class, LocalLockAutoConfiguration.class,
						RedisLockAutoConfiguration.class, LockInterceptorAutoConfiguration.class,
						LockTransactionAutoConfiguration.class, FencingAutoConfiguration.class))
		.withBean(DataSource.class, () -> this.dataSource)
		.withBean(PlatformTransactionManager.class, () -> new JdbcTransactionManager(this.dataSource))
		.withPropertyValues("distributed-lock.backend=local", "distributed-lock.shutdown-timeout=0s");

	private final ApplicationContextRunner lazy = this.runner.withInitializer(
			(context) -> context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()));

	private final ApplicationContextRunner proxied = this.runner.withBean(ProxyingPostProcessor.class);

	@AfterEach
	void leaveNothing() {
		LockContext.clear().forEach(LockHandle::close);
	}

	@Test
	void closedChildDoesNotCloseTheEngineOfItsParent() {
		this.runner.run((parent) -> {
			this.runner.withParent(parent).run((child) -> {
				assertThat(child).hasNotFailed();
				assertThat(child.getBean(LockOperations.class)).isSameAs(parent.getBean(LockOperations.class));
			});
			assertThat(
					parent.getBean(LockOperations.class).<Boolean, RuntimeException>execute(STOCK, LockHandle::isHeld))
				.isTrue();
		});
	}

	@Test
	void settingsOfAChildThatUsesTheLocksOfItsParentAreReported(CapturedOutput output) {
		this.runner.run((parent) -> {
			this.runner.withParent(parent).run((child) -> assertThat(child).hasNotFailed());
			assertThat(output).doesNotContain("have no effect");
			this.runner.withParent(parent)
				.withPropertyValues("distributed-lock.wait-time=1s")
				.run((child) -> assertThat(output).contains(
						"uses the locks of its parent. Its settings 'distributed-lock.*' differ from those of the parent"));
		});
	}

	@Slow
	@Test
	void failFastHoldsUnderLazyInitialization() {
		this.lazy
			.withPropertyValues("distributed-lock.backend=redis", "distributed-lock.startup-timeout=100ms",
					"distributed-lock.redis.address=redis://127.0.0.1:" + ServerProcess.freePort())
			.run((context) -> assertThat(context.getStartupFailure())
				.hasStackTraceContaining(StoreUnavailableException.class.getName()));
	}

	@Test
	void closeCreatesNoEngine() {
		ObjectProvider<LockOperations> engine = mock();
		new LockEngineLifecycle(new EngineReference(engine), () -> true).stop();
		verifyNoInteractions(engine);
	}

	@Test
	void firstCallAfterCloseIsRefusedAndCreatesNoEngine() {
		this.lazy.withBean(Orders.class).run((context) -> {
			Orders orders = context.getBean(Orders.class);
			context.close();
			assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(orders::place)
				.withMessageContaining("stopping");
			assertThat(context.getBeanFactory().getSingletonNames()).doesNotContain("lockEngine");
		});
	}

	@Slow
	@Test
	void firstCallAfterCloseCreatesNoApplicationLockOperations() {
		AtomicInteger created = new AtomicInteger();
		this.lazy.withBean(Orders.class).withBean(LockOperations.class, () -> {
			created.incrementAndGet();
			return mock(LockOperations.class, (call) -> {
				throw new IllegalStateException("of the application");
			});
		}).run((context) -> {
			Orders orders = context.getBean(Orders.class);
			context.close();
			int before = created.get();
			assertThatIllegalStateException().isThrownBy(orders::place).withMessage("of the application");
			assertThat(created).hasValue(before);
		});
	}

	@Test
	void transactionThatOutlivesItsContextIsNotifiedOfTheLoss() {
		this.lazy.run((context) -> {
			TransactionTemplate transaction = new TransactionTemplate(
					context.getBean(PlatformTransactionManager.class));
			context.getBean(LockOperations.class).acquire(STOCK);
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> transaction.executeWithoutResult((status) -> context.close()));
		});
	}

	@Test
	void openHandleOfAnotherContextDoesNotAffectTransactions() {
		this.runner.run((context) -> context.getBean(LockOperations.class).acquire(STOCK));
		assertThat(LockContext.handles()).isNotEmpty();
		this.runner.run((context) -> {
			TransactionTemplate transaction = new TransactionTemplate(
					context.getBean(PlatformTransactionManager.class));
			assertThatNoException().isThrownBy(() -> transaction.executeWithoutResult((status) -> {
			}));
			assertThatNoException().isThrownBy(() -> context.getBean(LockOperations.class)
				.execute(STOCK, (handle) -> transaction.execute((status) -> handle.isHeld())));
		});
	}

	@Test
	void openHandleOfAnotherContextDoesNotAffectAnEngineBehindAProxy() {
		this.runner.run((context) -> context.getBean(LockOperations.class).acquire(STOCK));
		this.proxied.run((context) -> {
			TransactionTemplate transaction = new TransactionTemplate(
					context.getBean(PlatformTransactionManager.class));
			assertThatNoException().isThrownBy(() -> transaction.executeWithoutResult((status) -> {
			}));
		});
	}

	@Test
	void engineBehindAProxyIsClosedInItsPhase() {
		this.proxied.run((context) -> {
			LockOperations locks = context.getBean(LockOperations.class);
			assertThat(locks).isNotInstanceOf(LockEngine.class);
			context.close();
			assertThatExceptionOfType(LockException.class).isThrownBy(() -> locks.acquire(STOCK))
				.withMessageContaining("the application is stopping");
		});
	}

	/** Spring waits at shutdown for tasks that run, and they may not hold a lock yet. */
	@Slow
	@ParameterizedTest
	@ValueSource(classes = { ThreadPoolTaskExecutor.class, ThreadPoolTaskScheduler.class })
	void taskThatIsAwaitedAtShutdownStillLocks(Class<? extends AsyncTaskExecutor> type) throws Exception {
		AtomicReference<Future<Boolean>> task = new AtomicReference<>();
		this.runner.withBean("tasks", type).withBean(ExecutorStop.class).run((context) -> {
			LockOperations locks = context.getBean(LockOperations.class);
			CountDownLatch awaited = context.getBean(ExecutorStop.class).reached;
			CountDownLatch started = new CountDownLatch(1);
			task.set(context.getBean(type).submit(() -> {
				started.countDown();
				awaited.await();
				return locks.execute(STOCK, LockHandle::isHeld);
			}));
			started.await();
		});
		assertThat(task.get().get()).isTrue();
	}

	/** Spring pauses a cached context while the tests of another one run. */
	@Test
	void contextThatWasPausedOrStoppedLocksAgain() {
		this.runner.run((context) -> {
			ConfigurableApplicationContext source = (ConfigurableApplicationContext) context
				.getSourceApplicationContext();
			LockHandle held = context.getBean(LockOperations.class).acquire(STOCK);
			source.pause();
			source.restart();
			source.stop();
			source.start();
			assertThat(held.isHeld()).isTrue();
			held.close();
			assertThat(
					context.getBean(LockOperations.class).<Boolean, RuntimeException>execute(STOCK, LockHandle::isHeld))
				.isTrue();
		});
	}

	@Test
	void openHandleCanBeRemovedFromItsThread() {
		this.runner.run((context) -> {
			LockHandle left = context.getBean(LockOperations.class).acquire(STOCK);
			assertThat(LockContext.clear()).containsExactly(left);
			assertThat(LockContext.handles()).isEmpty();
			left.close();
		});
	}

	@Test
	void closeLogsTheLocksItWaitsFor(CapturedOutput output) {
		this.runner.withPropertyValues("distributed-lock.shutdown-timeout=50ms").run((context) -> {
			context.getBean(LockOperations.class).acquire(STOCK);
			context.close();
			assertThat(output).contains("Closing waits up to 50ms for locks that are in use (1): stock:42");
		});
	}

	@Test
	void throwingObserverDoesNotReplaceTheRejectionOfTheFence() {
		LockObserver broken = new LockObserver() {

			@Override
			public void fencingRejected(LockName lock, String backend) {
				throw new IllegalStateException("broken");
			}

		};
		this.runner.withBean(LockObserver.class, () -> broken).run((context) -> {
			LockOperations locks = context.getBean(LockOperations.class);
			FencingGuard guard = context.getBean(FencingGuard.class);
			TransactionTemplate transaction = new TransactionTemplate(
					context.getBean(PlatformTransactionManager.class));
			LockHandle old = locks.acquire(STOCK);
			LockContext.unbind(old);
			old.close();
			CompletableFuture.runAsync(() -> locks.execute(STOCK, (newer) -> {
				transaction.executeWithoutResult((status) -> guard.advance(newer));
				return null;
			})).get(1, TimeUnit.MINUTES);
			assertThatExceptionOfType(StaleFencingTokenException.class)
				.isThrownBy(() -> transaction.executeWithoutResult((status) -> guard.advance(old)));
		});
	}

	/** Replaces the engine like an advisor of the application that applies to it. */
	static class ProxyingPostProcessor implements BeanPostProcessor {

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			return (bean instanceof LockEngine engine) ? proxy(engine) : bean;
		}

		private static Object proxy(LockEngine engine) {
			ProxyFactory factory = new ProxyFactory(LockOperations.class, EmptyTargetSource.INSTANCE);
			factory.setTarget(engine);
			return factory.getProxy();
		}

	}

	static class Orders {

		@DistributedLock("order")
		public void place() {
		}

	}

	/** Stops at the same time as the executors, which wait for their tasks then. */
	static class ExecutorStop implements SmartLifecycle {

		private final CountDownLatch reached = new CountDownLatch(1);

		private volatile boolean running;

		@Override
		public void start() {
			this.running = true;
		}

		@Override
		public void stop() {
			this.running = false;
			this.reached.countDown();
		}

		@Override
		public boolean isRunning() {
			return this.running;
		}

		@Override
		public int getPhase() {
			return ExecutorConfigurationSupport.DEFAULT_PHASE;
		}

	}

}
