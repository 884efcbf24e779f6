package io.holdfast.lock.interceptor;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.aop.support.AopUtils;
import org.springframework.core.annotation.AliasFor;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockOperations;

import static io.holdfast.lock.interceptor.LocalLocks.held;
import static io.holdfast.lock.interceptor.LocalLocks.nonWaiting;
import static io.holdfast.lock.interceptor.LocalLocks.runner;
import static io.holdfast.lock.interceptor.LocalLocks.with;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link DistributedLock}: where it is found, what its attributes mean, and how
 * a call behaves.
 */
class DistributedLockTests {

	@Test
	void methodRunsUnderItsLockAndWithoutItAfterwards() {
		with(Places.class, (bean) -> {
			assertThat(bean.onMethod(7)).isEqualTo("stock:7");
			assertThat(bean.plain()).isEqualTo("none");
			assertThat(LockHandle.current()).isEmpty();
		});
	}

	@Test
	void proxyIsMadeWithoutAspectj() {
		with(Places.class, (bean) -> assertThat(AopUtils.isCglibProxy(bean)).isTrue());
	}

	@Test
	void classLevelAnnotationAppliesToPublicMethodsWithoutOne() {
		with(OnClass.class, (bean) -> {
			assertThat(bean.first()).isEqualTo("whole");
			assertThat(bean.second()).isEqualTo("own");
			assertThat(bean.notPublic()).isEqualTo("none");
			assertThat(bean.toString()).isEqualTo("none");
		});
	}

	@Test
	void interfaceMethodIsFoundThroughAJdkProxy() {
		runner().withPropertyValues("spring.aop.proxy-target-class=false")
			.withBean(InterfaceUser.class)
			.run((context) -> {
				OnInterface bean = context.getBean(OnInterface.class);
				assertThat(bean.call("a")).isEqualTo("interface:a");
			});
	}

	@Test
	void interfaceMethodIsFoundThroughACglibProxy() {
		with(InterfaceUser.class, (bean) -> assertThat(bean.call("a")).isEqualTo("interface:a"));
	}

	@Test
	void inheritedAndOverriddenMethodsAreFound() {
		with(Child.class, (bean) -> {
			assertThat(bean.inherited()).isEqualTo("parent");
			assertThat(bean.overridden()).isEqualTo("parent-overridden");
		});
	}

	@Test
	void genericOverrideIsFoundWithItsOwnParameterNames() {
		with(GenericChild.class, (bean) -> {
			assertThat(bean.handle(5L)).isEqualTo("generic:5");
			assertThat(((GenericParent<Long>) bean).handle(6L)).isEqualTo("generic:6");
		});
	}

	@Test
	void composedAnnotationOverridesAttributes() {
		with(Composed.class, (bean) -> assertThat(bean.call(3)).isEqualTo("product:3"));
	}

	@Test
	void placeholdersAreResolved() {
		runner().withPropertyValues("app.lock=from-property", "app.wait=0s")
			.withBean(Placeholders.class)
			.run((context) -> assertThat(context.getBean(Placeholders.class).call()).isEqualTo("from-property"));
	}

	@Test
	void handleAndTokenAreInjected() {
		with(Injected.class, (bean) -> {
			assertThat(bean.handle(1, null)).isEqualTo("injected:1");
			assertThat(bean.token(null)).isPositive();
		});
	}

	@Test
	void callThatHoldsSeveralLocksHasNoSingleToken() {
		with(Injected.class, (bean) -> {
			assertThat(bean.tokenOf(List.of(1), null)).isPositive();
			assertThat(bean.tokenOf(List.of(1, 1), null)).isPositive();
			assertThatExceptionOfType(LockConfigurationException.class)
				.isThrownBy(() -> bean.tokenOf(List.of(1, 2), null))
				.withMessageContaining("Injected.tokenOf(List, FencingToken): it has a parameter of type FencingToken")
				.withMessageContaining("parts()");
		});
	}

	@Test
	void futureHoldsTheLockUntilItCompletes() {
		runner().withBean(Futures.class).run((context) -> {
			LockOperations locks = context.getBean(LockOperations.class);
			CompletableFuture<String> body = new CompletableFuture<>();
			CompletableFuture<String> result = context.getBean(Futures.class).call(body);
			assertThat(LockHandle.current()).as("on this thread").isEmpty();
			assertThat(locks.tryAcquire(nonWaiting("future"))).isEmpty();
			body.complete("done");
			assertThat(result).isCompletedWithValue("done");
			assertThat(locks.tryAcquire(nonWaiting("future"))).isPresent().get().satisfies(LockHandle::close);
		});
	}

	/** Cancelling a future does not stop the work. */
	@Test
	void injectedHandleIsThatOfTheWorkThatContinues() {
		runner().withBean(Futures.class).run((context) -> {
			CompletableFuture<Void> body = new CompletableFuture<>();
			CompletableFuture<Boolean> result = context.getBean(Futures.class).held(body, null);
			body.complete(null);
			assertThat(result).isCompletedWithValue(true);
		});
	}

	@Test
	void futureThatIsCancelledHoldsTheLockUntilTheWorkHasCompleted() {
		runner().withBean(Futures.class).run((context) -> {
			LockOperations locks = context.getBean(LockOperations.class);
			CompletableFuture<String> body = new CompletableFuture<>();
			context.getBean(Futures.class).call(body).cancel(true);
			assertThat(body).isNotDone();
			assertThat(locks.tryAcquire(nonWaiting("future"))).isEmpty();
			body.complete("done");
			assertThat(locks.tryAcquire(nonWaiting("future"))).isPresent().get().satisfies(LockHandle::close);
		});
	}

	@Test
	void failedFutureReleasesItsLock() {
		runner().withBean(Futures.class).run((context) -> {
			LockOperations locks = context.getBean(LockOperations.class);
			CompletableFuture<String> result = context.getBean(Futures.class)
				.call(CompletableFuture.failedFuture(new IllegalStateException("boom")));
			assertThat(result).isCompletedExceptionally();
			assertThatExceptionOfType(IllegalStateException.class)
				.isThrownBy(() -> context.getBean(Futures.class).failing());
			assertThat(locks.tryAcquire(nonWaiting("future"))).isPresent().get().satisfies(LockHandle::close);
		});
	}

	static class Places {

		@DistributedLock(name = "stock", key = "#id")
		public String onMethod(long id) {
			return held();
		}

		public String plain() {
			return held();
		}

	}

	@DistributedLock("whole")
	static class OnClass {

		public String first() {
			return held();
		}

		@DistributedLock("own")
		public String second() {
			return held();
		}

		String notPublic() {
			return held();
		}

		@Override
		public String toString() {
			return LockHandle.current().isPresent() ? "locked" : "none";
		}

	}

	interface OnInterface {

		@DistributedLock(name = "interface", key = "#value")
		String call(String value);

	}

	static class InterfaceUser implements OnInterface {

		@Override
		public String call(String value) {
			return held();
		}

	}

	static class Parent {

		@DistributedLock("parent")
		public String inherited() {
			return held();
		}

		@DistributedLock("parent-overridden")
		public String overridden() {
			return "parent";
		}

	}

	static class Child extends Parent {

		@Override
		public String overridden() {
			return held();
		}

	}

	abstract static class GenericParent<T> {

		@DistributedLock(name = "generic", key = "#value")
		public abstract String handle(T value);

	}

	static class GenericChild extends GenericParent<Long> {

		@Override
		public String handle(Long value) {
			return held();
		}

	}

	@Target(ElementType.METHOD)
	@Retention(RetentionPolicy.RUNTIME)
	@DistributedLock(name = "product", waitTime = "1s")
	@interface ProductLock {

		@AliasFor(annotation = DistributedLock.class, attribute = "key")
		String id();

	}

	static class Composed {

		@ProductLock(id = "#productId")
		public String call(long productId) {
			return held();
		}

	}

	static class Placeholders {

		@DistributedLock(name = "${app.lock}", waitTime = "${app.wait}", leaseTime = "${app.lease:PT10S}")
		public String call() {
			return held();
		}

	}

	static class Injected {

		@DistributedLock(name = "injected", key = "#id")
		public String handle(long id, @Nullable LockHandle handle) {
			return handle.lock().toString();
		}

		@DistributedLock("injected")
		public long token(@Nullable FencingToken token) {
			return token.value();
		}

		@DistributedLock(name = "injected", key = "#ids")
		public long tokenOf(List<Integer> ids, @Nullable FencingToken token) {
			return token.value();
		}

	}

	static class Futures {

		@DistributedLock("future")
		public CompletableFuture<String> call(CompletableFuture<String> body) {
			return body;
		}

		@DistributedLock("future")
		public CompletableFuture<Boolean> held(CompletableFuture<Void> body, @Nullable LockHandle handle) {
			return body.thenApply((done) -> handle.isHeld());
		}

		@DistributedLock("future")
		public CompletableFuture<String> failing() {
			throw new IllegalStateException("before there was a future");
		}

	}

}
