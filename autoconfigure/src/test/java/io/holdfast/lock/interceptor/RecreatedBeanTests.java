package io.holdfast.lock.interceptor;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import java.util.function.Supplier;

import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.holdfast.lock.interceptor.PlainBeans.LockedPlain;
import io.holdfast.lock.interceptor.PlainBeans.Plain;
import io.holdfast.lock.interceptor.PlainBeans.Wrapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Tests for beans of one name, but of several classes.
 */
class RecreatedBeanTests {

	private static ApplicationContextRunner with(Supplier<Plain> beans) {
		return LocalLocks.runner()
			.withBean("bean", Plain.class, beans, (definition) -> definition.setScope(BeanDefinition.SCOPE_PROTOTYPE));
	}

	private static void run(Supplier<Plain> beans, Consumer<AssertableApplicationContext> test) {
		with(beans).run((context) -> {
			assertThat(context).hasNotFailed();
			test.accept(context);
		});
	}

	@Test
	void prototypeWithoutALockFollowsOneWithALock() {
		Queue<Plain> beans = new ArrayDeque<>(List.of(new LockedPlain(), new UnlockedPlain()));
		run(beans::remove, (context) -> {
			assertThat(context.getBean(Plain.class).run()).isEqualTo("plain");
			assertThat(context.getBean(Plain.class).run()).isEqualTo("none");
		});
	}

	@Test
	void prototypesOfSeveralClassesAreCreatedTogether() {
		CountDownLatch created = new CountDownLatch(1);
		CountDownLatch finished = new CountDownLatch(1);
		ThreadLocal<Plain> beans = new ThreadLocal<>();
		run(beans::get, (context) -> {
			CompletableFuture<String> locked = CompletableFuture.supplyAsync(() -> {
				beans.set(new AwaitingPlain(created, finished));
				return context.getBean(Plain.class).run();
			}, (task) -> new Thread(task).start());
			try {
				await(created);
				beans.set(new UnlockedPlain());
				assertThat(context.getBean(Plain.class).run()).isEqualTo("none");
			}
			finally {
				finished.countDown();
			}
			assertThat(locked.join()).isEqualTo("plain");
		});
	}

	@Test
	void objectThatIsInitializedUnderTheNameOfABeanNeedsNoLock() {
		LocalLocks.runner()
			.withBean("bean", Plain.class, LockedPlain::new)
			.run((context) -> assertThat(context.getAutowireCapableBeanFactory().initializeBean("text", "bean"))
				.isEqualTo("text"));
	}

	/** A bean of the same name that failed before must not matter. */
	@Test
	void failedBeanIsForgotten() {
		Queue<Plain> beans = new ArrayDeque<>(List.of(new FailingPlain(), new UnlockedPlain()));
		run(beans::remove, (context) -> {
			assertThat(catchThrowable(() -> context.getBean(Plain.class))).hasRootCauseMessage("failing");
			assertThat(context.getBean(Plain.class).run()).isEqualTo("none");
		});
	}

	@Test
	void replacedPrototypeIsFoundEachTime() {
		with(LockedPlain::new).withBean("processor", Wrapper.class).run((context) -> {
			for (int i = 0; i < 2; i++) {
				assertThat(catchThrowable(() -> context.getBean(Plain.class)))
					.hasStackTraceContaining("has replaced the bean 'bean'");
			}
		});
	}

	private static void await(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	static class UnlockedPlain implements Plain {

		@Override
		public String run() {
			return LocalLocks.held();
		}

	}

	static class FailingPlain extends LockedPlain implements InitializingBean {

		@Override
		public void afterPropertiesSet() {
			throw new IllegalStateException("failing");
		}

	}

	static class AwaitingPlain extends LockedPlain implements InitializingBean {

		private final CountDownLatch created;

		private final CountDownLatch finished;

		AwaitingPlain(CountDownLatch created, CountDownLatch finished) {
			this.created = created;
			this.finished = finished;
		}

		@Override
		public void afterPropertiesSet() {
			this.created.countDown();
			await(this.finished);
		}

	}

}
