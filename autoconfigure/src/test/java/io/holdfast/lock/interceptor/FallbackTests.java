package io.holdfast.lock.interceptor;

import java.lang.reflect.InvocationHandler;
import java.util.concurrent.CompletableFuture;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.junit.jupiter.api.Test;

import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.context.annotation.Configuration;
import org.springframework.resilience.annotation.ConcurrencyLimit;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.scheduling.annotation.Async;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockNotAcquiredException;
import io.holdfast.lock.Unlocked;

import static io.holdfast.lock.interceptor.LocalLocks.whileHeld;
import static io.holdfast.lock.interceptor.RefusedBeans.failure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for how a fallback is called: on the proxy of its bean, so that its own
 * annotations apply, or else on the bean.
 */
class FallbackTests {

	@Test
	void fallbackOfAClassHasItsOwnTransaction() {
		AdvisedBeans.runner().withBean(Sale.class).run((context) -> whileHeld(context, "busy", () -> {
			Sale sale = context.getBean(Sale.class);
			assertThat(sale.call()).isEqualTo("in a transaction");
			assertThat(sale.packagePrivate()).isEqualTo("in a transaction");
		}));
	}

	@Test
	void fallbackThatAProxyCannotInterceptRunsOnTheBean() {
		AdvisedBeans.runner().withBean(Sale.class).run((context) -> whileHeld(context, "busy", () -> {
			Sale sale = context.getBean(Sale.class);
			assertThat(sale.privateOne()).isEqualTo("private without a transaction");
			assertThat(sale.finalOne()).isEqualTo("final without a transaction");
		}));
	}

	@Test
	void fallbackOfAnInterfaceHasItsOwnTransaction() {
		AdvisedBeans.runner()
			.withPropertyValues("spring.aop.proxy-target-class=false")
			.withBean(OnInterface.class)
			.run((context) -> whileHeld(context, "busy", () -> {
				Shop shop = context.getBean(Shop.class);
				assertThat(shop.call()).isEqualTo("in a transaction");
				assertThat(shop.hidden()).isEqualTo("hidden without a transaction");
			}));
	}

	@Test
	void proxyWithoutATargetCallsItsFallback() {
		ProxyFactory client = new ProxyFactory();
		client.addInterface(Client.class);
		client.addAdvice((MethodInterceptor) FallbackTests::answer);
		LocalLocks.runner()
			.withBean(Client.class, () -> (Client) client.getProxy())
			.run((context) -> whileHeld(context, "busy", () -> {
				Client bean = context.getBean(Client.class);
				assertThat(bean.call("a")).startsWith("later a: Lock 'busy' was not acquired");
				assertThat(bean.other("a")).isEqualTo("called cached");
			}));
	}

	private static Object answer(MethodInvocation invocation) throws Throwable {
		if (invocation.getMethod().isDefault()) {
			return InvocationHandler.invokeDefault(((ProxyMethodInvocation) invocation).getProxy(),
					invocation.getMethod(), invocation.getArguments());
		}
		return "called " + invocation.getMethod().getName();
	}

	@Test
	void exceptionOfAFallbackReachesTheCallerUnwrapped() {
		AdvisedBeans.runner()
			.withBean(Sale.class)
			.run((context) -> whileHeld(context, "busy",
					() -> assertThatExceptionOfType(IllegalStateException.class)
						.isThrownBy(() -> context.getBean(Sale.class).failing())
						.withMessage("failed")));
	}

	@Test
	void fallbackThatItsClassLocksStopsTheStartUnlessItIsUnlocked() {
		LocalLocks.runner()
			.withBean(ByClass.class)
			.run((context) -> assertThat(failure(context)).message()
				.contains("ByClass.call()", "fallback 'later' is @DistributedLock, too, itself or by its class",
						"mark it @Unlocked"));
		LocalLocks.runner()
			.withBean(ByClassUnlocked.class)
			.run((context) -> whileHeld(context, "busy",
					() -> assertThat(context.getBean(ByClassUnlocked.class).call()).isEqualTo("none")));
	}

	@Test
	void asynchronousFallbackOfAnAsynchronousMethodStopsTheStart() {
		LocalLocks.runner()
			.withBean(AsyncClass.class)
			.run((context) -> assertThat(failure(context)).message()
				.contains("AsyncClass.call()", "its fallback 'later' is, too", "Make the fallback private"));
	}

	@Test
	void fallbackSharesNoConcurrencyLimitWithItsMethod() {
		LocalLocks.runner()
			.withUserConfiguration(Resilience.class)
			.withBean(LimitedClass.class)
			.run((context) -> assertThat(failure(context)).message()
				.contains("LimitedClass.call()", "its fallback 'later' share the @ConcurrencyLimit of their class",
						"Make the fallback private"));
		LocalLocks.runner()
			.withUserConfiguration(Resilience.class)
			.withBean(LimitedMethods.class)
			.run((context) -> whileHeld(context, "busy",
					() -> assertThat(context.getBean(LimitedMethods.class).call()).isEqualTo("later")));
	}

	private static String transaction() {
		return TransactionSynchronizationManager.isActualTransactionActive() ? "in a transaction"
				: "without a transaction";
	}

	static class Sale {

		private final String privately = "private ";

		private final String lastly = "final ";

		@DistributedLock(name = "busy", waitTime = "0s", fallback = "later")
		public String call() {
			return "now";
		}

		@Transactional
		public String later() {
			return transaction();
		}

		@DistributedLock(name = "busy", waitTime = "0s", fallback = "laterInPackage")
		public String packagePrivate() {
			return "now";
		}

		@Transactional
		String laterInPackage(LockNotAcquiredException reason) {
			return transaction();
		}

		@DistributedLock(name = "busy", waitTime = "0s", fallback = "laterPrivately")
		public String privateOne() {
			return "now";
		}

		@SuppressWarnings("unused")
		private String laterPrivately() {
			return this.privately + transaction();
		}

		@DistributedLock(name = "busy", waitTime = "0s", fallback = "laterFinally")
		public String finalOne() {
			return "now";
		}

		public final String laterFinally() {
			return this.lastly + transaction();
		}

		@DistributedLock(name = "busy", waitTime = "0s", fallback = "fail")
		public String failing() {
			return "now";
		}

		@Transactional
		public String fail() {
			throw new IllegalStateException("failed");
		}

	}

	interface Shop {

		@DistributedLock(name = "busy", waitTime = "0s", fallback = "later")
		String call();

		String later();

		@DistributedLock(name = "busy", waitTime = "0s", fallback = "notOfTheInterface")
		String hidden();

	}

	static class OnInterface implements Shop {

		private final String hidden = "hidden ";

		@Override
		public String call() {
			return "now";
		}

		@Override
		@Transactional
		public String later() {
			return transaction();
		}

		@Override
		public String hidden() {
			return "now";
		}

		public String notOfTheInterface() {
			return this.hidden + transaction();
		}

	}

	interface Client {

		@DistributedLock(name = "busy", waitTime = "0s", fallback = "later")
		String call(String id);

		default String later(String id, LockNotAcquiredException reason) {
			return "later " + id + ": " + reason.getMessage();
		}

		@DistributedLock(name = "busy", waitTime = "0s", fallback = "cached")
		String other(String id);

		String cached(String id);

	}

	@DistributedLock("all")
	static class ByClass {

		@DistributedLock(name = "busy", waitTime = "0s", fallback = "later")
		public String call() {
			return "now";
		}

		public String later() {
			return LocalLocks.held();
		}

	}

	@DistributedLock("all")
	static class ByClassUnlocked {

		@DistributedLock(name = "busy", waitTime = "0s", fallback = "later")
		public String call() {
			return "now";
		}

		@Unlocked
		public String later() {
			return LocalLocks.held();
		}

	}

	@Async
	static class AsyncClass {

		@DistributedLock(name = "busy", waitTime = "0s", fallback = "later")
		public CompletableFuture<String> call() {
			return CompletableFuture.completedFuture("now");
		}

		public CompletableFuture<String> later() {
			return CompletableFuture.completedFuture("later");
		}

	}

	@Configuration
	@EnableResilientMethods
	static class Resilience {

	}

	@ConcurrencyLimit(1)
	static class LimitedClass {

		@DistributedLock(name = "busy", waitTime = "0s", fallback = "later")
		public String call() {
			return "now";
		}

		public String later() {
			return "later";
		}

	}

	@ConcurrencyLimit(1)
	static class LimitedMethods {

		@DistributedLock(name = "busy", waitTime = "0s", fallback = "later")
		public String call() {
			return "now";
		}

		@ConcurrencyLimit(1)
		public String later() {
			return "later";
		}

	}

}
