package io.holdfast.lock.interceptor;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Primary;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.interceptor.PlainBeans.LockedPlain;
import io.holdfast.lock.interceptor.PlainBeans.Plain;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for factories and configurations of the application that create proxies with the
 * JDK.
 */
class ProxyFromFactoryTests {

	/** The factory names the class of its target, which the proxy does not have. */
	@ParameterizedTest
	@ValueSource(classes = { OfLockedBean.class, CapturedOfLockedBean.class })
	void proxyAroundALockedBeanNeedsNoLock(Class<?> configuration) {
		LocalLocks.runner().withUserConfiguration(configuration).withBean(User.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(context.getBean(User.class).bean().run()).isEqualTo("plain");
		});
	}

	@Test
	void targetInTheFactoryThatAHandlerCapturesStopsTheStart() {
		LocalLocks.runner()
			.withBean("bean", Factory.class, () -> new Factory(Plain.class, new LockedPlain(), true))
			.withBean(User.class)
			.run((context) -> assertThat(RefusedBeans.failure(context)).hasMessageContainingAll(
					"@DistributedLock on " + LockedPlain.class.getName(), "'bean'",
					"is a proxy around an object that is no bean"));
	}

	/**
	 * Nothing shows the target of a lazy proxy of its interface before the first call.
	 */
	@ParameterizedTest
	@ValueSource(classes = { LockedPlain.class, Plain.class })
	void factoryOfALazyTargetNamesTheTypeOfTheProxy(Class<?> type) {
		LocalLocks.runner()
			.withBean("target", LockedPlain.class)
			.withBean("type", Class.class, () -> type)
			.withUserConfiguration(OfLazyBean.class)
			.withBean(User.class)
			.run((context) -> {
				if (type == Plain.class) {
					assertThat(context.getBean(User.class).bean().run()).isEqualTo("plain");
					return;
				}
				assertThat(RefusedBeans.failure(context)).hasMessageContainingAll("'bean'", "$Proxy",
						"or a FactoryBean with another object type has created it, and",
						"would run without its lock. Declare", "let getObjectType()");
			});
	}

	/** The configuration is a bean. It may call its own methods without their locks. */
	@Test
	void handlerMayCaptureTheConfigurationThatDeclaresIt() {
		LocalLocks.runner().withBean("locked", Declaring.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(((Plain) context.getBean("bean")).run()).isEqualTo("answer");
			assertThat(((Plain) context.getBean("locked")).run()).isEqualTo("plain");
		});
	}

	@Configuration(proxyBeanMethods = false)
	static class OfLazyBean {

		@Bean
		@Primary
		Factory bean(Class<?> type, @Lazy @Qualifier("target") Plain target) {
			return new Factory(type, target, false);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OfLockedBean {

		@Bean
		LockedPlain target() {
			return new LockedPlain();
		}

		@Bean
		Factory bean(LockedPlain target) {
			return new Factory(target.getClass(), target, false);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class CapturedOfLockedBean {

		@Bean
		LockedPlain target() {
			return new LockedPlain();
		}

		@Bean
		Factory bean(LockedPlain target) {
			return new Factory(LockedPlain.class, target, true);
		}

	}

	/**
	 * A factory of proxies.
	 *
	 * @param captured whether the handler has the factory instead of the target
	 */
	record Factory(Class<?> type, Plain target, boolean captured) implements FactoryBean<Object> {

		@Override
		public Object getObject() {
			InvocationHandler handler = this.captured ? (proxy, method, arguments) -> call(this.target, method)
					: new Handler(this.target);
			return Proxy.newProxyInstance(Plain.class.getClassLoader(), new Class<?>[] { Plain.class }, handler);
		}

		@Override
		public Class<?> getObjectType() {
			return this.type;
		}

	}

	record Handler(Plain target) implements InvocationHandler {

		@Override
		public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
			return call(this.target, method);
		}

	}

	private static Object call(Plain target, Method method) throws Throwable {
		try {
			return method.invoke(target);
		}
		catch (InvocationTargetException ex) {
			throw ex.getTargetException();
		}
	}

	record User(Plain bean) {
	}

	static class Declaring extends LockedPlain {

		private final String answer = "answer";

		@Bean
		Plain bean() {
			return (Plain) Proxy.newProxyInstance(Plain.class.getClassLoader(), new Class<?>[] { Plain.class },
					(proxy, method, arguments) -> method.getName().equals("run") ? this.answer
							: method.invoke(this.answer, arguments));
		}

	}

}
