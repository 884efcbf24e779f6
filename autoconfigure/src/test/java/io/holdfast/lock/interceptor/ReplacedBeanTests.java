package io.holdfast.lock.interceptor;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.mockito.Mockito;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.Ordered;
import org.springframework.util.ClassUtils;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.interceptor.PlainBeans.Locked;
import io.holdfast.lock.interceptor.PlainBeans.LockedDifferently;
import io.holdfast.lock.interceptor.PlainBeans.LockedPlain;
import io.holdfast.lock.interceptor.PlainBeans.Plain;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for beans that other post-processors replace before their locks are added.
 */
class ReplacedBeanTests {

	private final ApplicationContextRunner runner = LocalLocks.runner();

	private ApplicationContextRunner with(Plain bean, Phase phase) {
		return this.runner.withBean("processor", Wrapper.class, () -> new Wrapper(phase))
			.withBean("bean", Plain.class, () -> bean);
	}

	private static void requireStopped(AssertableApplicationContext context, Class<?> type) {
		assertThat(RefusedBeans.failure(context)).hasMessageContainingAll("@DistributedLock on " + type.getName(),
				"a post-processor has replaced the bean 'bean' with an object of ", "neither Ordered nor");
	}

	@ParameterizedTest
	@EnumSource(names = { "BEFORE", "AFTER" })
	void beanThatIsReplacedBeforeItsLockStopsTheStart(Phase phase) {
		with(new LockedPlain(), phase).run((context) -> requireStopped(context, LockedPlain.class));
	}

	/** As a proxy of an interface with another locked method. */
	@Test
	void methodWithoutItsLockBesideALockedOneStopsTheStart() {
		with(new LockedTwice(), Phase.AFTER).run((context) -> requireStopped(context, LockedTwice.class));
	}

	/**
	 * The class overrides the lock of its interface, which is all that the proxy shows.
	 */
	@Test
	void methodWithTheLockOfItsInterfaceInsteadStopsTheStart() {
		with(new LockedDifferently(), Phase.AFTER).run((context) -> requireStopped(context, LockedDifferently.class));
	}

	@Test
	void genericMethodWithoutItsLockBesideALockedOneStopsTheStart() {
		with(new LockedGeneric(), Phase.AFTER).run((context) -> requireStopped(context, LockedGeneric.class));
	}

	@Test
	void beanThatIsReplacedAfterItsLockKeepsIt() {
		BeanPostProcessor wrapper = new BeanPostProcessor() {

			@Override
			public Object postProcessAfterInitialization(Object bean, String beanName) {
				return (bean instanceof Plain) ? plainProxy(bean) : bean;
			}

		};
		this.runner.withBean("processor", BeanPostProcessor.class, () -> wrapper)
			.withBean("bean", Plain.class, LockedPlain::new)
			.run((context) -> assertThat(context.getBean(Plain.class).run()).isEqualTo("plain"));
	}

	@Test
	void annotationOfAnInterfaceAppliesToTheReplacedBean() {
		with(new LockedByInterface(), Phase.AFTER)
			.run((context) -> assertThat(context.getBean(Plain.class).run()).isEqualTo("interface"));
	}

	@Test
	void mockInPlaceOfABeanNeedsNoLock() {
		with(new LockedPlain(), Phase.MOCKED).run((context) -> assertThat(context.getBean(Plain.class).run()).isNull());
	}

	/** No advice can be added to such a proxy, and the annotation is on its target. */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void closedProxyWithoutTheAnnotationStopsTheStart(boolean frozen) {
		LocalLocks.withAspect(this.runner.withBean("bean", Plain.class, LockedPlain::new), (creator) -> {
			creator.setProxyTargetClass(false);
			creator.setFrozen(frozen);
			creator.setOpaque(!frozen);
		}).run((context) -> requireStopped(context, LockedPlain.class));
	}

	private static Object plainProxy(Object target) {
		Class<?>[] interfaces = Stream.of(ClassUtils.getAllInterfaces(target))
			.filter((type) -> type.getPackage() == ReplacedBeanTests.class.getPackage())
			.toArray(Class<?>[]::new);
		return Proxy.newProxyInstance(target.getClass().getClassLoader(), interfaces, (proxy, method, arguments) -> {
			try {
				return method.invoke(target, arguments);
			}
			catch (InvocationTargetException ex) {
				throw ex.getTargetException();
			}
		});
	}

	enum Phase {

		BEFORE, AFTER, MOCKED

	}

	/** Replaces beans before the ordered post-processors that follow. */
	static class Wrapper implements BeanPostProcessor, Ordered {

		private final Phase phase;

		Wrapper(Phase phase) {
			this.phase = phase;
		}

		@Override
		public int getOrder() {
			return 0;
		}

		@Override
		public Object postProcessBeforeInitialization(Object bean, String beanName) {
			return (this.phase == Phase.BEFORE && bean instanceof Plain) ? plainProxy(bean) : bean;
		}

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			if (!(bean instanceof Plain) || this.phase == Phase.BEFORE) {
				return bean;
			}
			return (this.phase == Phase.AFTER) ? plainProxy(bean) : Mockito.mock(Plain.class);
		}

	}

	interface Other {

		@DistributedLock("other")
		String other();

	}

	static class LockedTwice implements Plain, Other {

		@Override
		@DistributedLock("plain")
		public String run() {
			return LocalLocks.held();
		}

		@Override
		public String other() {
			return LocalLocks.held();
		}

	}

	interface Handler<T> {

		String handle(T value);

	}

	static class LockedGeneric implements Locked, Handler<String> {

		@Override
		public String run() {
			return LocalLocks.held();
		}

		@Override
		@DistributedLock("handler")
		public String handle(String value) {
			return LocalLocks.held();
		}

	}

	static class LockedByInterface implements Locked {

		@Override
		public String run() {
			return LocalLocks.held();
		}

	}

}
