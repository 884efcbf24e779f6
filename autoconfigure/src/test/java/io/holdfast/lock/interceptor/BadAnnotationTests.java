package io.holdfast.lock.interceptor;

import java.util.List;
import java.util.concurrent.Future;

import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockContext;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.Unlocked;
import io.holdfast.lock.WhenNotAcquired;
import io.holdfast.lock.autoconfigure.DistributedLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.FencingAutoConfiguration;
import io.holdfast.lock.autoconfigure.LocalLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockInterceptorAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockTransactionAutoConfiguration;
import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.test.PoorLockBackend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests that annotations that could never work fail the startup, with a message that
 * names the method and the remedy.
 */
class BadAnnotationTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
				LocalLockAutoConfiguration.class, LockInterceptorAutoConfiguration.class))
		.withPropertyValues("distributed-lock.backend=local");

	private void refused(Class<?> type, String... messages) {
		this.runner.withBean(type).run((context) -> {
			assertThat(context).hasFailed();
			assertThat(failure(context)).message().contains("@DistributedLock on " + type.getName()).contains(messages);
		});
	}

	private static LockConfigurationException failure(AssertableApplicationContext context) {
		Throwable failure = context.getStartupFailure();
		while (failure != null && !(failure instanceof LockConfigurationException)) {
			failure = failure.getCause();
		}
		assertThat(failure).isInstanceOf(LockConfigurationException.class);
		return (LockConfigurationException) failure;
	}

	@Test
	void privateMethod() {
		refused(PrivateMethod.class, "the method is private", "run without", "Make it an overridable method");
	}

	@Test
	void maxHoldBelowLeaseOrMinHold() {
		refused(MaxHoldBelowLease.class, "maxHold of lock 'stock' is 2s, but its leaseTime is 1h",
				"Set leaseTime to at most 2s");
		refused(MaxHoldBelowMinHold.class, "maxHold of lock 'stock' is 1m, but its minHold is 5m",
				"Set minHold to at most 1m");
	}

	@Test
	void finalMethod() {
		refused(FinalMethod.class, "the method is final");
	}

	@Test
	void staticMethod() {
		refused(StaticMethod.class, "the method is static");
	}

	@Test
	void finalClass() {
		refused(FinalClass.class, "in a final class");
	}

	@Test
	void finalClassOrRecordWhereTransactionsAreFenced() {
		ApplicationContextRunner fenced = this.runner
			.withConfiguration(AutoConfigurations.of(LockTransactionAutoConfiguration.class,
					FencingAutoConfiguration.class, DataSourceAutoConfiguration.class,
					DataSourceTransactionManagerAutoConfiguration.class, TransactionAutoConfiguration.class))
			.withPropertyValues("spring.datasource.generate-unique-name=true");
		fenced.withBean(FinalClass.class)
			.run((context) -> assertThat(failure(context)).message().contains("in a final class"));
		fenced.withBean(AsRecord.class)
			.run((context) -> assertThat(failure(context)).message().contains("AsRecord.call()", "in a final class"));
	}

	@Test
	void finalMethodOfALockedClass() {
		refused(FinalMethodOfAClass.class, "FinalMethodOfAClass.helper()", "the method is final", "mark it @Unlocked");
	}

	@Test
	void lockedAndUnlocked() {
		refused(Both.class, "it is also @Unlocked");
	}

	@Test
	void unlockedMethodsOfALockedClassAreAccepted() {
		this.runner.withBean(LeftOut.class).run((context) -> {
			LeftOut bean = context.getBean(LeftOut.class);
			assertThat(bean.call()).isEqualTo(1);
			assertThat(bean.unlocked()).isZero();
			assertThat(LeftOut.helper()).isZero();
			assertThat(bean.last()).isZero();
		});
	}

	@Test
	void skipOnAPrimitive() {
		refused(SkipPrimitive.class, "returns int", "Return an Optional or an object");
	}

	@Test
	void skipWithFallback() {
		refused(SkipAndFallback.class, "Choose one");
	}

	@Test
	void noName() {
		refused(NoName.class, "it has no name", "name = \"stock\"");
	}

	@Test
	void nameThatNoMeterTagCouldHave() {
		refused(BadName.class, "Lock name 'stock:42' is not valid", "put the variable part into the key");
	}

	@Test
	void textThatIsNoDuration() {
		refused(BadDuration.class, "its waitTime is 'soon', which is not a duration", "'5s'");
	}

	@Test
	void negativeDuration() {
		refused(NegativeDuration.class, "waitTime of lock 'stock' is -1s");
	}

	@Test
	void leaseThatIsTooShort() {
		refused(ZeroLease.class, "leaseTime of lock 'stock' is 0s");
	}

	@Test
	void keyThatIsNoExpression() {
		refused(BadSpel.class, "is not a valid SpEL expression");
	}

	@Test
	void keyThatNamesNoParameter() {
		refused(UnknownVariable.class, "uses #ident", "the parameters are named [id]");
	}

	@Test
	void missingPosition() {
		refused(UnknownPosition.class, "uses #p1");
	}

	@Test
	void missingFallback() {
		refused(NoFallback.class, "no suitable fallback 'later'", "LockNotAcquiredException");
	}

	@Test
	void fallbackOfAnotherType() {
		refused(WrongFallback.class, "no suitable fallback 'later'", "a return type compatible with java.lang.String");
	}

	@Test
	void reactiveReturnType() {
		refused(ReturnsMono.class, "it returns a Mono", "Return the value itself or a CompletableFuture");
	}

	@Test
	void futureThatCannotBeAwaited() {
		refused(ReturnsFuture.class, "it returns a Future", "Return a CompletableFuture");
	}

	@Test
	void fencedWhereNothingChecks() {
		refused(Fenced.class, "'fenced = true'", "would not be fenced", "spring-boot-starter-jdbc");
	}

	@Test
	void unknownStore() {
		refused(UnknownStore.class, "names the lock backend 'paper', which does not exist", "[local]");
		refused(MisspelledStore.class, "names the lock backend 'Locl', which does not exist", "Did you mean 'local'?");
	}

	@Test
	void missingBeanOfTheKey() {
		refused(UnknownBean.class, "refers to the bean 'tenants', which does not exist");
		refused(UnknownBeanOfAPart.class, "refers to the bean 'my.tenants', which does not exist");
	}

	@Test
	void placeholderThatCannotBeResolved() {
		refused(UnknownPlaceholder.class, "its name is \"${app.lock}\", whose placeholder cannot be resolved",
				"Set that property, or write a default");
		refused(UnknownPlaceholderOfTheKey.class,
				"its key is \"#id + '${app.suffix}'\", whose placeholder cannot be resolved");
		this.runner.withConfiguration(AutoConfigurations.of(PropertyPlaceholderAutoConfiguration.class))
			.withBean(UnknownPlaceholder.class)
			.run((context) -> assertThat(failure(context)).message()
				.contains("its name is \"${app.lock}\", whose placeholder cannot be resolved: ", "write a default"));
	}

	@Test
	void capabilityThatTheStoreLacks() {
		this.runner.withBean(LockBackends.class, () -> new LockBackends(List.of(new PoorLockBackend()), "poor"))
			.withBean(Shared.class)
			.run((context) -> assertThat(failure(context)).message()
				.contains("Shared.call()", "mode = SHARED", "'poor' does not support"));
		this.runner.withBean(LockBackends.class, () -> new LockBackends(List.of(new PoorLockBackend()), "poor"))
			.withBean(Fair.class)
			.run((context) -> assertThat(failure(context)).message()
				.contains("Fair.call()", "fair = true", "'poor' keeps no order of arrival"));
	}

	@Test
	void namesThatAreNotInTheClassFile() throws Exception {
		Class<?> compiled = WithoutParameterNames.compile();
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> new LockMethodVerifier(new LockMethodSpecs((text) -> text, null)).verify(compiled))
			.withMessageContaining("the class file contains no parameter names")
			.withMessageContaining("-parameters")
			.withMessageContaining("#p0");
	}

	@Test
	void beanThatIsCreatedLaterIsCheckedThen() {
		this.runner.withBean(UnknownStore.class, UnknownStore::new, (definition) -> definition.setLazyInit(true))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThatExceptionOfType(Exception.class).isThrownBy(() -> context.getBean(UnknownStore.class))

					.withMessageContaining("names the lock backend 'paper'");
			});
	}

	static class PrivateMethod {

		@DistributedLock("stock")
		@SuppressWarnings("unused")
		private void call() {
		}

	}

	static class FinalMethod {

		@DistributedLock("stock")
		public final void call() {
		}

	}

	static class StaticMethod {

		@DistributedLock("stock")
		public static void call() {
		}

	}

	static final class FinalClass {

		@DistributedLock("stock")
		public void call() {
		}

	}

	record AsRecord() {

		@DistributedLock("stock")
		public void call() {
		}

	}

	@DistributedLock("stock")
	static class FinalMethodOfAClass {

		public final void helper() {
		}

	}

	static class Both {

		@Unlocked
		@DistributedLock("stock")
		public void call() {
		}

	}

	@DistributedLock("stock")
	static class LeftOut {

		public int call() {
			return LockContext.handles().size();
		}

		@Unlocked
		public int unlocked() {
			return LockContext.handles().size();
		}

		@Unlocked
		public final int last() {
			return LockContext.handles().size();
		}

		public static int helper() {
			return LockContext.handles().size();
		}

	}

	static class SkipPrimitive {

		@DistributedLock(name = "stock", whenNotAcquired = WhenNotAcquired.SKIP)
		public int call() {
			return 1;
		}

	}

	static class SkipAndFallback {

		@DistributedLock(name = "stock", whenNotAcquired = WhenNotAcquired.SKIP, fallback = "later")
		public void call() {
		}

		void later() {
		}

	}

	static class NoName {

		@DistributedLock
		public void call() {
		}

	}

	static class BadName {

		@DistributedLock("stock:42")
		public void call() {
		}

	}

	static class BadDuration {

		@DistributedLock(name = "stock", waitTime = "soon")
		public void call() {
		}

	}

	static class NegativeDuration {

		@DistributedLock(name = "stock", waitTime = "-1s")
		public void call() {
		}

	}

	static class ZeroLease {

		@DistributedLock(name = "stock", leaseTime = "0s")
		public void call() {
		}

	}

	static class BadSpel {

		@DistributedLock(name = "stock", key = "#id +")
		public void call(long id) {
		}

	}

	static class UnknownVariable {

		@DistributedLock(name = "stock", key = "#ident")
		public void call(long id) {
		}

	}

	static class UnknownPosition {

		@DistributedLock(name = "stock", key = "#p1")
		public void call(long id) {
		}

	}

	static class NoFallback {

		@DistributedLock(name = "stock", fallback = "later")
		public void call(long id) {
		}

		void later() {
		}

	}

	static class WrongFallback {

		@DistributedLock(name = "stock", fallback = "later")
		public String call() {
			return "";
		}

		int later() {
			return 0;
		}

	}

	static class ReturnsMono {

		@DistributedLock("stock")
		public Mono<String> call() {
			return Mono.empty();
		}

	}

	static class ReturnsFuture {

		@DistributedLock("stock")
		public Future<String> call() {
			throw new IllegalStateException();
		}

	}

	static class Fenced {

		@DistributedLock(name = "stock", fenced = true)
		public void call() {
		}

	}

	static class MisspelledStore {

		@DistributedLock(name = "stock", backend = "Locl")
		public void call() {
		}

	}

	static class UnknownBean {

		@DistributedLock(name = "stock", key = "#id + @tenants.current()")
		public void call(String id) {
		}

	}

	static class UnknownBeanOfAPart {

		@DistributedLock(name = "stock", keys = { "#id", "@'my.tenants'.current()" })
		public void call(String id) {
		}

	}

	static class UnknownPlaceholder {

		@DistributedLock("${app.lock}")
		public void call() {
		}

	}

	static class UnknownPlaceholderOfTheKey {

		@DistributedLock(name = "stock", key = "#id + '${app.suffix}'")
		public void call(String id) {
		}

	}

	static class UnknownStore {

		@DistributedLock(name = "stock", backend = "paper")
		public void call() {
		}

	}

	static class Shared {

		@DistributedLock(name = "stock", mode = LockMode.SHARED)
		public void call() {
		}

	}

	static class Fair {

		@DistributedLock(name = "stock", fair = true)
		public void call() {
		}

	}

	static class MaxHoldBelowLease {

		@DistributedLock(name = "stock", leaseTime = "1h", maxHold = "2s")
		public void locked() {
		}

	}

	static class MaxHoldBelowMinHold {

		@DistributedLock(name = "stock", maxHold = "1m", minHold = "5m")
		public void locked() {
		}

	}

}
