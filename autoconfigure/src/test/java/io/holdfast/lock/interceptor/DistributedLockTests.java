package io.holdfast.lock.interceptor;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.aop.support.AopUtils;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.annotation.AliasFor;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockContext;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockNotAcquiredException;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.WhenNotAcquired;
import io.holdfast.lock.autoconfigure.DistributedLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.LocalLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockInterceptorAutoConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link DistributedLock}: where it is found, what its attributes mean, and how
 * a call behaves.
 */
class DistributedLockTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
				LocalLockAutoConfiguration.class, LockInterceptorAutoConfiguration.class, AopAutoConfiguration.class))
		.withPropertyValues("distributed-lock.backend=local")
		.withBean("tenants", Tenants.class);

	private <T> void with(Class<T> type, Consumer<T> test) {
		this.runner.withBean(type).run((context) -> {
			assertThat(context).hasNotFailed();
			test.accept(context.getBean(type));
		});
	}

	private static String held() {
		return LockHandle.current().map((handle) -> handle.lock().toString()).orElse("none");
	}

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
		this.runner.withPropertyValues("spring.aop.proxy-target-class=false")
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
	void keySupportsTheVariablesOfCacheable() {
		this.runner.withBean(Keys.class).run((context) -> {
			Keys bean = context.getBean(Keys.class);
			assertThat(bean.position("x")).isEqualTo("k:x");
			assertThat(bean.argument("x")).isEqualTo("k:x");
			assertThat(bean.property(new Item(9))).isEqualTo("k:9");
			assertThat(bean.rootMethod()).isEqualTo("k:rootMethod");
			assertThat(bean.rootArgs("y")).isEqualTo("k:y");
			assertThat(bean.rootTarget()).isEqualTo("k:Keys");
			assertThat(bean.bean()).isEqualTo("k:acme");
			assertThat(bean.text()).isEqualTo("k:all");
		});
	}

	@Test
	void keyIsTheSameAfterItsExpressionWasCompiled() {
		with(Keys.class, (bean) -> {
			for (int i = 0; i < 1_000; i++) {
				assertThat(bean.property(new Item(i))).isEqualTo("k:" + i);
			}
		});
	}

	@Test
	void nullAndBlankKeysAreErrorsAndTheBodyDoesNotRun() {
		with(Keys.class, (bean) -> {
			assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> bean.position(null))
				.withMessageContaining("Keys.position(String)")
				.withMessageContaining("\"#p0\" is null")
				.withMessageContaining("did not run");
			assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> bean.position("  "))
				.withMessageContaining("is blank");
			assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> bean.property(null))
				.withMessageContaining("could not be evaluated");
			assertThat(bean.runs).isZero();
		});
	}

	@Test
	void collectionAndArrayKeysLockAllInOrder() {
		with(Keys.class, (bean) -> {
			assertThat(bean.collection(List.of(3, 1, 2, 1))).containsExactly("k:1", "k:2", "k:3");
			assertThat(bean.array(new long[] { 2, 1 })).containsExactly("k:1", "k:2");
			assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> bean.collection(List.of()))
				.withMessageContaining("is empty");
			assertThatExceptionOfType(LockConfigurationException.class)
				.isThrownBy(() -> bean.collection(Arrays.asList(1, null)))
				.withMessageContaining("is null");
		});
	}

	@Test
	void placeholdersInAKeyAreResolved() {
		with(KeyPlaceholders.class, (bean) -> assertThat(bean.call(1)).isEqualTo("stock:1-eu"));
		this.runner.withPropertyValues("app.region=us")
			.withBean(KeyPlaceholders.class)
			.run((context) -> assertThat(context.getBean(KeyPlaceholders.class).call(1)).isEqualTo("stock:1-us"));
	}

	@Test
	void placeholdersAreResolved() {
		this.runner.withPropertyValues("app.lock=from-property", "app.wait=0s")
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
	void lockedByAnotherThrowsByDefault() {
		this.runner.withBean(Reactions.class).run((context) -> whileHeld(context, "busy", () -> {
			Reactions bean = context.getBean(Reactions.class);
			assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(bean::throwing)
				.withMessageContaining("Lock 'busy' was not acquired");
			assertThat(bean.runs).isZero();
		}));
	}

	@Test
	void skipReturnsNothingAndDoesNotRun() {
		this.runner.withBean(Reactions.class).run((context) -> whileHeld(context, "busy", () -> {
			Reactions bean = context.getBean(Reactions.class);
			assertThat(bean.skippingObject()).isNull();
			assertThat(bean.skippingOptional()).isEmpty();
			assertThat(bean.skippingFuture()).isCompletedWithValue(null);
			bean.skippingVoid();
			assertThat(bean.runs).isZero();
		}));
	}

	@Test
	void fallbackIsCalledWithTheArgumentsAndTheReason() {
		this.runner.withBean(Reactions.class).run((context) -> whileHeld(context, "busy", () -> {
			Reactions bean = context.getBean(Reactions.class);
			assertThat(bean.withFallback("x")).isEqualTo("later x");
			assertThat(bean.withReason("x")).startsWith("later x: Lock 'busy' was not acquired");
			assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> bean.withFailingFallback())
				.withMessage("fallback failed");
		}));
	}

	@Test
	void refusalOfANestedLockIsNotHandledAsTheMethodsOwn() {
		this.runner.withBean(Reactions.class).run((context) -> whileHeld(context, "inner", () -> {
			Reactions bean = context.getBean(Reactions.class);
			assertThatExceptionOfType(LockNotAcquiredException.class)
				.isThrownBy(() -> bean.skippingAround(context.getBean(LockOperations.class)))
				.withMessageContaining("'inner'");
		}));
	}

	@Test
	void futureHoldsTheLockUntilItCompletes() {
		this.runner.withBean(Futures.class).run((context) -> {
			LockOperations locks = context.getBean(LockOperations.class);
			CompletableFuture<String> body = new CompletableFuture<>();
			CompletableFuture<String> result = context.getBean(Futures.class).call(body);
			assertThat(LockHandle.current()).as("on this thread").isEmpty();
			assertThat(locks.tryAcquire(request("future"))).isEmpty();
			body.complete("done");
			assertThat(result).isCompletedWithValue("done");
			assertThat(locks.tryAcquire(request("future"))).isPresent().get().satisfies(LockHandle::close);
		});
	}

	/** Cancelling a future does not stop the work. */
	@Test
	void futureThatIsCancelledHoldsTheLockUntilTheWorkHasCompleted() {
		this.runner.withBean(Futures.class).run((context) -> {
			LockOperations locks = context.getBean(LockOperations.class);
			CompletableFuture<String> body = new CompletableFuture<>();
			context.getBean(Futures.class).call(body).cancel(true);
			assertThat(body).isNotDone();
			assertThat(locks.tryAcquire(request("future"))).isEmpty();
			body.complete("done");
			assertThat(locks.tryAcquire(request("future"))).isPresent().get().satisfies(LockHandle::close);
		});
	}

	@Test
	void failedFutureReleasesItsLock() {
		this.runner.withBean(Futures.class).run((context) -> {
			LockOperations locks = context.getBean(LockOperations.class);
			CompletableFuture<String> result = context.getBean(Futures.class)
				.call(CompletableFuture.failedFuture(new IllegalStateException("boom")));
			assertThat(result).isCompletedExceptionally();
			assertThatExceptionOfType(IllegalStateException.class)
				.isThrownBy(() -> context.getBean(Futures.class).failing());
			assertThat(locks.tryAcquire(request("future"))).isPresent().get().satisfies(LockHandle::close);
		});
	}

	private static LockRequest request(String name) {
		return LockRequest.of(name).toBuilder().waitTime(java.time.Duration.ZERO).build();
	}

	private static void whileHeld(AssertableApplicationContext context, String name, Runnable test) {
		LockHandle handle = context.getBean(LockOperations.class)
			.acquireAsync(LockRequest.of(name))
			.toCompletableFuture()
			.join();
		try (handle) {
			test.run();
		}
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

	record Item(long id) {
	}

	static class Tenants {

		public String current() {
			return "acme";
		}

	}

	static class Keys {

		int runs;

		@DistributedLock(name = "k", key = "#p0")
		public String position(@Nullable String value) {
			this.runs++;
			return held();
		}

		@DistributedLock(name = "k", key = "#a0")
		public String argument(String value) {
			return held();
		}

		@DistributedLock(name = "k", key = "#item.id")
		public String property(@Nullable Item item) {
			this.runs++;
			return held();
		}

		@DistributedLock(name = "k", key = "#root.methodName")
		public String rootMethod() {
			return held();
		}

		@DistributedLock(name = "k", key = "#root.args[0]")
		public String rootArgs(String value) {
			return held();
		}

		@DistributedLock(name = "k", key = "#root.targetClass.simpleName")
		public String rootTarget() {
			return held();
		}

		@DistributedLock(name = "k", key = "#ids")
		public List<String> collection(Collection<Integer> ids) {
			return allHeld();
		}

		@DistributedLock(name = "k", key = "#ids")
		public List<String> array(long[] ids) {
			return allHeld();
		}

		private static List<String> allHeld() {
			return LockContext.handles().stream().map((handle) -> handle.lock().toString()).sorted().toList();
		}

		@DistributedLock(name = "k", key = "@tenants.current()")
		public String bean() {
			return held();
		}

		@DistributedLock(name = "k", key = "'all'")
		public String text() {
			return held();
		}

	}

	static class KeyPlaceholders {

		@DistributedLock(name = "stock", key = "#id + '-${app.region:eu}'")
		public String call(long id) {
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

	}

	static class Reactions {

		int runs;

		@DistributedLock(name = "busy", waitTime = "0s")
		public void throwing() {
			this.runs++;
		}

		@DistributedLock(name = "busy", waitTime = "0s", whenNotAcquired = WhenNotAcquired.SKIP)
		public @Nullable String skippingObject() {
			this.runs++;
			return "ran";
		}

		@DistributedLock(name = "busy", waitTime = "0s", whenNotAcquired = WhenNotAcquired.SKIP)
		public Optional<String> skippingOptional() {
			this.runs++;
			return Optional.of("ran");
		}

		@DistributedLock(name = "busy", waitTime = "0s", whenNotAcquired = WhenNotAcquired.SKIP)
		public CompletableFuture<String> skippingFuture() {
			this.runs++;
			return CompletableFuture.completedFuture("ran");
		}

		@DistributedLock(name = "busy", waitTime = "0s", whenNotAcquired = WhenNotAcquired.SKIP)
		public void skippingVoid() {
			this.runs++;
		}

		@DistributedLock(name = "busy", waitTime = "0s", fallback = "later")
		public String withFallback(String value) {
			return "now " + value;
		}

		@SuppressWarnings("unused")
		private String later(String value) {
			return "later " + value;
		}

		@DistributedLock(name = "busy", waitTime = "0s", fallback = "laterBecause")
		public String withReason(String value) {
			return "now " + value;
		}

		String laterBecause(String value, LockNotAcquiredException reason) {
			return "later " + value + ": " + reason.getMessage();
		}

		@DistributedLock(name = "busy", waitTime = "0s", fallback = "failing")
		public void withFailingFallback() {
		}

		void failing() {
			throw new IllegalStateException("fallback failed");
		}

		@DistributedLock(name = "outer", whenNotAcquired = WhenNotAcquired.SKIP)
		public @Nullable String skippingAround(LockOperations locks) {
			return locks.execute(request("inner"), (handle) -> "ran");
		}

	}

	static class Futures {

		@DistributedLock("future")
		public CompletableFuture<String> call(CompletableFuture<String> body) {
			return body;
		}

		@DistributedLock("future")
		public CompletableFuture<String> failing() {
			throw new IllegalStateException("before there was a future");
		}

	}

}
