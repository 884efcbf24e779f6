package io.holdfast.lock.interceptor;

import java.util.concurrent.Future;

import jakarta.annotation.PostConstruct;
import jakarta.annotation.PreDestroy;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

import org.springframework.beans.factory.InitializingBean;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockContext;
import io.holdfast.lock.Unlocked;
import io.holdfast.lock.WhenNotAcquired;
import io.holdfast.lock.autoconfigure.FencingAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockTransactionAutoConfiguration;
import io.holdfast.lock.interceptor.other.PackagePrivateMethod;

import static io.holdfast.lock.interceptor.LocalLocks.plainRunner;
import static io.holdfast.lock.interceptor.RefusedBeans.failure;
import static io.holdfast.lock.interceptor.RefusedBeans.refused;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that an annotation on a method that cannot be locked fails the startup, with a
 * message that names the method and the remedy.
 */
class BadMethodTests {

	@Test
	void privateMethod() {
		refused(PrivateMethod.class, "the method is private", "run without", "Make it an overridable method");
	}

	/** No proxy in the package of the bean's class can override it. */
	@Test
	void packagePrivateMethodOfAnotherPackage() {
		plainRunner().withBean(OfAnotherPackage.class)
			.run((context) -> assertThat(failure(context)).hasMessageContaining("package-private in another package")
				.hasMessageContaining("it would run without its lock"));
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
	void methodThatTheContainerCalls() {
		refused(AtStart.class, "not on its proxy", "ApplicationRunner");
		refused(AtEnd.class, "not on its proxy");
		refused(AfterProperties.class, "not on its proxy");
	}

	/** A proxy answers equals() and hashCode() without its advice. */
	@Test
	void methodOfObjectThatProxiesAnswer() {
		refused(LockedEquals.class, "LockedEquals.equals(Object)", "would run without its lock", "another name");
		refused(LockedHashCode.class, "LockedHashCode.hashCode()", "would run without its lock");
		refused(LockedEnd.class, "LockedEnd.finalize()", "would run without its lock");
	}

	@Test
	void toStringIsLocked() {
		plainRunner().withBean(LockedText.class)
			.run((context) -> assertThat(context.getBean(LockedText.class)).hasToString("1"));
	}

	@Test
	void lockedFallback() {
		refused(LockedFallback.class, "fallback 'later' is @DistributedLock, too", "Remove the annotation");
	}

	@Test
	void finalClass() {
		refused(FinalClass.class, "in a final class");
	}

	@Test
	void finalClassOrRecordWhereTransactionsAreFenced() {
		ApplicationContextRunner fenced = plainRunner()
			.withConfiguration(AutoConfigurations.of(LockTransactionAutoConfiguration.class,
					FencingAutoConfiguration.class, DataSourceAutoConfiguration.class,
					DataSourceTransactionManagerAutoConfiguration.class, TransactionAutoConfiguration.class))
			.withPropertyValues("spring.datasource.generate-unique-name=true");
		fenced.withBean(FinalClass.class)
			.run((context) -> assertThat(failure(context)).message().contains("in a final class"));
		fenced.withBean(AsRecord.class)
			.run((context) -> assertThat(failure(context)).message()
				.contains("AsRecord.call()", "in a final class")
				.as("it has no interface to proxy")
				.doesNotContain("proxy-target-class"));
	}

	@Test
	void finalMethodOfALockedClass() {
		refused(FinalMethodOfAClass.class, "FinalMethodOfAClass.helper()", "the method is final", "mark it @Unlocked",
				"annotate the methods that need the lock instead of the class");
	}

	@Test
	void lockedAndUnlocked() {
		refused(Both.class, "it is also @Unlocked");
	}

	@Test
	void unlockedMethodsOfALockedClassAreAccepted() {
		plainRunner().withBean(LeftOut.class).run((context) -> {
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
	void missingFallback() {
		refused(NoFallback.class, "no suitable fallback 'later'", "LockNotAcquiredException");
	}

	@Test
	void fallbackOfAnotherType() {
		refused(WrongFallback.class, "no suitable fallback 'later'", "a return type compatible with java.lang.String");
	}

	@Test
	void reactiveReturnType() {
		refused(ReturnsMono.class, "it returns Mono", "Return the value itself, or one CompletableFuture");
	}

	@Test
	void futureThatCannotBeAwaited() {
		refused(ReturnsFuture.class, "it returns Future", "Return a CompletableFuture");
	}

	static class PrivateMethod {

		@DistributedLock("stock")
		@SuppressWarnings("unused")
		private void call() {
		}

	}

	static class OfAnotherPackage extends PackagePrivateMethod {

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

	static class AtStart {

		@PostConstruct
		@DistributedLock(name = "migration")
		void migrate() {
		}

	}

	static class AtEnd {

		@PreDestroy
		@DistributedLock(name = "migration")
		void finish() {
		}

	}

	static class AfterProperties implements InitializingBean {

		@Override
		@DistributedLock(name = "migration")
		public void afterPropertiesSet() {
		}

	}

	static class LockedFallback {

		@DistributedLock(name = "stock", fallback = "later")
		void now() {
		}

		@DistributedLock(name = "later")
		void later() {
		}

	}

	static class LockedEquals {

		@Override
		@DistributedLock(name = "stock")
		public boolean equals(Object other) {
			return other instanceof LockedEquals;
		}

		@Override
		public int hashCode() {
			return 1;
		}

	}

	static class LockedHashCode {

		@Override
		public boolean equals(Object other) {
			return other instanceof LockedHashCode;
		}

		@Override
		@DistributedLock(name = "stock")
		public int hashCode() {
			return 1;
		}

	}

	static class LockedEnd {

		@Override
		@DistributedLock(name = "stock")
		@SuppressWarnings({ "deprecation", "removal" })
		protected void finalize() {
		}

	}

	static class LockedText {

		@Override
		@DistributedLock(name = "stock")
		public String toString() {
			return String.valueOf(LockContext.handles().size());
		}

	}

}
