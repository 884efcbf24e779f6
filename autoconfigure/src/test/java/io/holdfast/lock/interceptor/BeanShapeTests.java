package io.holdfast.lock.interceptor;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.function.Supplier;

import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.transaction.annotation.Transactional;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockConfigurationException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for beans that are not ordinary classes: lambdas, interface proxies, final
 * classes, records and scoped proxies.
 */
class BeanShapeTests {

	private final ApplicationContextRunner runner = LocalLocks.runner();

	private <T extends Task> void locks(Supplier<T> bean) {
		this.runner.withBean("job", Task.class, bean::get)
			.run((context) -> assertThat(context.getBean(Task.class).run("a")).isEqualTo("[job:a]"));
	}

	@Test
	void lambdaHasTheParameterNamesOfItsInterface() {
		locks(() -> (Job) (id) -> LocalLocks.allHeld());
	}

	@Test
	void proxyOfAnInterfaceHasItsParameterNames() {
		locks(() -> (Job) Proxy.newProxyInstance(Job.class.getClassLoader(), new Class<?>[] { Job.class },
				BeanShapeTests::answer));
	}

	/** As Spring's clients of HTTP and the gateways of Spring Integration are. */
	@Test
	void proxyWithoutATargetHasTheLockOfItsInterface() {
		locks(() -> ProxyFactory.getProxy(LockedClient.class,
				(MethodInterceptor) (invocation) -> LocalLocks.allHeld()));
	}

	@Test
	void proxyWithoutATargetHasALockWithoutAKey() {
		this.runner
			.withBean("job", Task.class,
					() -> ProxyFactory.getProxy(UnkeyedClient.class,
							(MethodInterceptor) (invocation) -> LocalLocks.allHeld()))
			.run((context) -> assertThat(context.getBean(Task.class).run("a")).isEqualTo("[client]"));
	}

	@Test
	void proxyWithoutATargetHasTheLocksOfAllItsInterfaces() {
		ProxyFactory factory = new ProxyFactory(Job.class, OtherJob.class);
		factory.addAdvice((MethodInterceptor) (invocation) -> LocalLocks.allHeld());
		this.runner.withBean("job", Object.class, factory::getProxy).run((context) -> {
			assertThat(context.getBean(Job.class).run("a")).isEqualTo("[job:a]");
			assertThat(context.getBean(OtherJob.class).runOther("a")).isEqualTo("[other:a]");
		});
	}

	private static Object answer(Object proxy, Method method, Object[] arguments) {
		return switch (method.getName()) {
			case "hashCode" -> 1;
			case "equals" -> proxy == arguments[0];
			default -> LocalLocks.allHeld();
		};
	}

	@ParameterizedTest
	@ValueSource(classes = { FinalJob.class, RecordJob.class })
	void finalClassWithTheAnnotationOnItsInterfaceIsExplained(Class<? extends Job> type) {
		this.runner.withBean("job", type)
			.run((context) -> assertThat(context).getFailure()
				.cause()
				.isInstanceOf(LockConfigurationException.class)
				.message()
				.contains("Bean 'job': @DistributedLock on " + type.getName() + ".run(String)",
						"the method is in a final class", "spring.aop.proxy-target-class=false"));
		this.runner.withBean("job", type)
			.withPropertyValues("spring.aop.proxy-target-class=false")
			.run((context) -> assertThat(context.getBean(Job.class).run("a")).isEqualTo("[job:a]"));
	}

	@Test
	void finalClassWithAnotherProxyFirstIsExplained() {
		this.runner
			.withConfiguration(AutoConfigurations.of(TransactionAutoConfiguration.class,
					DataSourceAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class))
			.withPropertyValues("spring.datasource.generate-unique-name=true")
			.withBean("job", TransactionalJob.class)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(LockConfigurationException.class)
				.message()
				.contains("TransactionalJob.run(String)", "the method is in a final class"));
	}

	@ParameterizedTest
	@ValueSource(classes = { ScopedByClass.class, ScopedByInterface.class })
	void scopedBeanIsLockedOnce(Class<?> configuration) {
		this.runner.withUserConfiguration(configuration)
			.run((context) -> assertThat(context.getBean("job", Job.class).run("a")).isEqualTo("[job:a]"));
	}

	interface Task {

		String run(String id);

	}

	@DistributedLock(name = "job", key = "#id")
	interface LockedClient extends Task {

	}

	@DistributedLock("client")
	interface UnkeyedClient extends Task {

	}

	interface OtherJob {

		@DistributedLock(name = "other", key = "#id")
		String runOther(String id);

	}

	interface Job extends Task {

		@Override
		@DistributedLock(name = "job", key = "#id")
		String run(String id);

	}

	static final class FinalJob implements Job {

		@Override
		public String run(String id) {
			return LocalLocks.allHeld();
		}

	}

	@Transactional
	static final class TransactionalJob implements Job {

		@Override
		public String run(String id) {
			return LocalLocks.allHeld();
		}

	}

	record RecordJob() implements Job {

		@Override
		public String run(String id) {
			return LocalLocks.allHeld();
		}

	}

	static class OpenJob implements Job {

		@Override
		public String run(String id) {
			return LocalLocks.allHeld();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ScopedByClass {

		@Bean
		@Scope(scopeName = "prototype", proxyMode = ScopedProxyMode.TARGET_CLASS)
		OpenJob job() {
			return new OpenJob();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ScopedByInterface {

		@Bean
		@Scope(scopeName = "prototype", proxyMode = ScopedProxyMode.INTERFACES)
		Job job() {
			return new OpenJob();
		}

	}

}
