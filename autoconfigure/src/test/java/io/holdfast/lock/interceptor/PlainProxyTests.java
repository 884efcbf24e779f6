package io.holdfast.lock.interceptor;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mockito.Mockito;

import org.springframework.beans.BeanUtils;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.InstantiationAwareBeanPostProcessor;
import org.springframework.beans.factory.support.GenericBeanDefinition;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.OverridingClassLoader;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.interceptor.PlainBeans.Locked;
import io.holdfast.lock.interceptor.PlainBeans.LockedDifferently;
import io.holdfast.lock.interceptor.PlainBeans.LockedPlain;
import io.holdfast.lock.interceptor.PlainBeans.Plain;
import io.holdfast.lock.interceptor.PlainBeans.Wrapper;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for beans that are proxies of the application's own, made with the JDK, around an
 * object that is no bean.
 */
class PlainProxyTests {

	private final ApplicationContextRunner runner = LocalLocks.runner();

	private ApplicationContextRunner with(Plain bean) {
		return this.runner.withBean("bean", Plain.class, () -> bean);
	}

	private static void requireStopped(AssertableApplicationContext context, Class<?> type, String reason) {
		assertThat(RefusedBeans.failure(context)).hasMessageContainingAll("@DistributedLock on " + type.getName(),
				"'bean'", reason);
	}

	private static void requireStoppedByTarget(AssertableApplicationContext context, Class<?> type) {
		requireStopped(context, type, "is a proxy around an object that is no bean");
	}

	@Test
	void targetThatIsNoBeanStopsTheStart() {
		with(proxy(Plain.class, new LockedPlain()))
			.run((context) -> requireStoppedByTarget(context, LockedPlain.class));
		with(proxy(Plain.class, new LockedClass()))
			.run((context) -> requireStoppedByTarget(context, LockedClass.class));
	}

	@Test
	void targetInAFieldOfASuperclassOfTheHandlerStopsTheStart() {
		with(proxy(Plain.class, new SubHandler(new LockedPlain())))
			.run((context) -> requireStoppedByTarget(context, LockedPlain.class));
	}

	@Test
	void targetThatALambdaCapturesStopsTheStart() {
		LockedPlain target = new LockedPlain();
		InvocationHandler handler = (proxy, method, arguments) -> method.invoke(target, arguments);
		with(proxy(Plain.class, handler)).run((context) -> requireStoppedByTarget(context, LockedPlain.class));
	}

	@Test
	void proxyBehindAnAspectStopsTheStart() {
		LocalLocks.withAspect(with(proxy(Plain.class, new LockedPlain())), (creator) -> {
		}).run((context) -> requireStoppedByTarget(context, LockedPlain.class));
	}

	/**
	 * The class overrides the lock of its interface, which is all that the proxy shows.
	 */
	@Test
	void targetWithAnotherLockThanItsInterfaceStopsTheStart() {
		with(proxy(Locked.class, new LockedDifferently()))
			.run((context) -> requireStoppedByTarget(context, LockedDifferently.class));
	}

	@Test
	void annotationOfAnInterfaceAppliesToTheProxy() {
		with(proxy(Locked.class, new LockedByInterface()))
			.run((context) -> assertThat(context.getBean(Plain.class).run()).isEqualTo("interface"));
	}

	@Test
	void lockOfAMethodThatTheProxyDoesNotHaveIsNotMissing() {
		with(proxy(Plain.class, new LockedElsewhere()))
			.run((context) -> assertThat(context.getBean(Plain.class).run()).isEqualTo("none"));
	}

	@Test
	void handlerMayKnowALockedObjectThatItDoesNotStandFor() {
		with(proxy(Plain.class, new LockedOther())).run((context) -> assertThat(context).hasNotFailed());
	}

	/** As the handler of a library with an optional dependency. */
	@Test
	void handlerWithAFieldOfAMissingTypeDoesNotStopTheStart() throws Exception {
		Class<?> type = new WithoutMissing().loadClass(Incomplete.class.getName());
		InvocationHandler handler = (InvocationHandler) BeanUtils.instantiateClass(type);
		with(proxy(Plain.class, handler)).run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void targetBesideAnObjectWithAMissingTypeStopsTheStart() throws Exception {
		Object incomplete = BeanUtils.instantiateClass(new WithoutMissing().loadClass(Incomplete.class.getName()));
		with(proxy(Plain.class, new BesideIncomplete(incomplete, new LockedPlain())))
			.run((context) -> requireStoppedByTarget(context, LockedPlain.class));
	}

	@Test
	void mockAsTargetNeedsNoLock() {
		with(proxy(Plain.class, Mockito.mock(LockedPlain.class)))
			.run((context) -> assertThat(context.getBean(Plain.class).run()).isNull());
	}

	@Test
	void targetThatIsABeanHasItsLock() {
		this.runner.withBean("target", LockedPlain.class).withUserConfiguration(Wrapping.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(((Plain) context.getBean("bean")).run()).isEqualTo("plain");
		});
	}

	@Test
	void productOfAFactoryStopsTheStart() {
		this.runner
			.withBean("bean", Product.class, () -> new Product(Plain.class, proxy(Plain.class, new LockedPlain())))
			.withBean(User.class)
			.run((context) -> requireStoppedByTarget(context, LockedPlain.class));
	}

	@Test
	void productThatIsNotOfTheTypeOfItsFactoryStopsTheStart() {
		this.runner
			.withBean("bean", Product.class, () -> new Product(LockedPlain.class, proxy(Plain.class, new Hidden())))
			.withBean(User.class)
			.run((context) -> requireStopped(context, LockedPlain.class, "has replaced the bean"));
	}

	@Test
	void missingProductOfAFactoryNeedsNoLock() {
		this.runner.withBean("bean", Product.class, () -> new Product(LockedPlain.class, null)).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(context.getBeanProvider(LockedPlain.class).getIfAvailable()).isNull();
		});
	}

	/** A post-processor sees the product of a factory only after its initialization. */
	@ParameterizedTest
	@ValueSource(classes = { LockedPlain.class, Plain.class })
	void replacedProductOfAFactoryStopsTheStart(Class<?> type) {
		this.runner.withBean("processor", Wrapper.class)
			.withBean("bean", Product.class, () -> new Product(type, new LockedPlain()))
			.withBean(User.class)
			.run((context) -> requireStopped(context, LockedPlain.class,
					(type == Plain.class) ? "is a proxy around" : "has replaced the bean"));
	}

	/** No other post-processor sees the object then. */
	@Test
	void beanThatIsReplacedBeforeItsInstantiationStopsTheStart() {
		this.runner.withBean("processor", Instantiator.class)
			.withInitializer((context) -> define((GenericApplicationContext) context))
			.run((context) -> requireStopped(context, LockedPlain.class, "has replaced the bean"));
	}

	private static void define(GenericApplicationContext context) {
		GenericBeanDefinition definition = new GenericBeanDefinition();
		definition.setBeanClass(LockedPlain.class);
		context.registerBeanDefinition("bean", definition);
	}

	private static <T> T proxy(Class<T> type, Object target) {
		InvocationHandler handler = (target instanceof InvocationHandler given) ? given : new Handler(target);
		return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, handler));
	}

	static class Handler implements InvocationHandler {

		private final Object target;

		Handler(Object target) {
			this.target = target;
		}

		@Override
		public @Nullable Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
			try {
				return method.invoke(this.target, arguments);
			}
			catch (InvocationTargetException ex) {
				throw ex.getTargetException();
			}
		}

	}

	static class SubHandler extends Handler {

		SubHandler(Object target) {
			super(target);
		}

	}

	/** Its target is in none of its fields. */
	static class Hidden implements InvocationHandler {

		@Override
		public @Nullable Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
			return method.invoke(new LockedPlain(), arguments);
		}

	}

	static class Missing {

	}

	static class Incomplete implements InvocationHandler {

		@Nullable Missing missing;

		@Nullable Missing missing() {
			return this.missing;
		}

		@Override
		public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments) throws Exception {
			return (method.getDeclaringClass() == Object.class) ? method.invoke(this, arguments) : null;
		}

	}

	record BesideIncomplete(Object incomplete, Plain target) implements InvocationHandler {

		@Override
		public @Nullable Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
			return method.invoke(this.target, arguments);
		}

	}

	static class WithoutMissing extends OverridingClassLoader {

		WithoutMissing() {
			super(PlainProxyTests.class.getClassLoader());
		}

		@Override
		protected boolean isEligibleForOverriding(String name) {
			return name.equals(Incomplete.class.getName());
		}

		@Override
		protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
			if (name.equals(Missing.class.getName())) {
				throw new ClassNotFoundException(name);
			}
			return super.loadClass(name, resolve);
		}

	}

	static class Instantiator implements InstantiationAwareBeanPostProcessor {

		@Override
		public @Nullable Object postProcessBeforeInstantiation(Class<?> type, String beanName) {
			return (type == LockedPlain.class) ? proxy(Plain.class, new Hidden()) : null;
		}

	}

	record Product(Class<?> type, @Nullable Plain object) implements FactoryBean<Object> {

		@Override
		public @Nullable Object getObject() {
			return this.object;
		}

		@Override
		public Class<?> getObjectType() {
			return this.type;
		}

	}

	record User(Plain bean) {
	}

	@Configuration(proxyBeanMethods = false)
	static class Wrapping {

		@Bean
		Plain bean(LockedPlain target) {
			return proxy(Plain.class, target);
		}

	}

	@DistributedLock("class")
	static class LockedClass implements Plain {

		@Override
		public String run() {
			return LocalLocks.held();
		}

	}

	static class LockedByInterface implements Locked {

		@Override
		public String run() {
			return LocalLocks.held();
		}

	}

	static class LockedElsewhere implements Plain {

		@Override
		public String run() {
			return LocalLocks.held();
		}

		@DistributedLock("elsewhere")
		public String other() {
			return LocalLocks.held();
		}

	}

	static class LockedOther {

		@DistributedLock("other")
		public String run() {
			return LocalLocks.held();
		}

	}

}
