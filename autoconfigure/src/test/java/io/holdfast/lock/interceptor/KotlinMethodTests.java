package io.holdfast.lock.interceptor;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.function.Consumer;

import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Test;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.util.ReflectionUtils;

import io.holdfast.lock.DistributedLock;

import static io.holdfast.lock.interceptor.LocalLocks.held;
import static io.holdfast.lock.interceptor.LocalLocks.with;
import static io.holdfast.lock.interceptor.RefusedBeans.refused;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for functions of Kotlin that override a generic one and have another signature in
 * byte code than it.
 */
class KotlinMethodTests {

	@Test
	void functionWithAnUnboxedParameterHasTheInheritedLock() {
		with(KotlinClass.extending("Unboxed", Locked.class, "call", false), (bean) -> {
			assertThat(call(bean, "call")).isEqualTo("stock:7");
			assertThat(callGeneric(bean)).isEqualTo("stock:7");
		});
	}

	@Test
	void functionWithAnUnboxedParameterHasItsOwnLock() {
		with(KotlinClass.extending("UnboxedAnnotated", Unannotated.class, "call", true), (bean) -> {
			assertThat(call(bean, "call")).isEqualTo("stock:7");
			assertThat(callGeneric(bean)).isEqualTo("stock:7");
		});
	}

	@Test
	void functionWithAValueClassDoesNotInheritTheAnnotation() {
		refused(KotlinClass.extending("ValueInheriting", Locked.class, "call-1a2b3c4", false),
				"call-1a2b3c4(long): only the second of this method and", ".call(Object), by which",
				"Annotate both functions");
	}

	@Test
	void annotationOfAValueClassFunctionDoesNotApplyToItsBridge() {
		refused(KotlinClass.extending("ValueAnnotated", Unannotated.class, "call-1a2b3c4", true),
				"call-1a2b3c4(long): only the first of this method and", "Annotate both functions");
	}

	@Test
	void functionWithAValueClassIsLockedIfBothAreAnnotated() {
		with(KotlinClass.extending("ValueBoth", Locked.class, "call-1a2b3c4", true), (bean) -> {
			assertThat(call(bean, "call-1a2b3c4")).isEqualTo("stock:7");
			assertThat(callGeneric(bean)).isEqualTo("stock:7");
		});
	}

	@Test
	void callThroughTheGenericInterfaceHasTheLockOfTheOverride() {
		withProxyOf(KotlinClass.narrowing("Narrowing", Generic.class, true), (bean) -> {
			assertThat(call(bean, "call")).isEqualTo("stock:7");
			assertThat(callGeneric(bean)).isEqualTo("stock:7");
		});
	}

	@Test
	void overrideInAnInterfaceHasTheInheritedLock() {
		withProxyOf(KotlinClass.narrowing("NarrowingInheriting", LockedGeneric.class, false), (bean) -> {
			assertThat(callGeneric(bean)).isEqualTo("stock:7");
			assertThat(call(bean, "call")).isEqualTo("stock:7");
		});
	}

	@Test
	void proxyOfTheJdkHasTheLockOfTheOverride() {
		withClientOf(KotlinClass.narrowing("NarrowingClient", Generic.class, true));
		withClientOf(KotlinClass.narrowing("NarrowingClientInheriting", LockedGeneric.class, false));
	}

	/** In Java, a method with a primitive parameter overrides no generic one. */
	@Test
	void overloadOfAnInterfaceInJavaDoesNotReplaceTheLock() {
		withProxyOf(Overloading.class, (bean) -> {
			assertThat(((Overloading) bean).call(7L)).isEqualTo("other:7");
			assertThat(callGeneric(bean)).isEqualTo("stock:7");
		});
	}

	/** The bean is a proxy of an interface, as a Spring Data repository is. */
	private static void withProxyOf(Class<?> type, Consumer<Object> test) {
		ProxyFactory factory = new ProxyFactory();
		factory.setInterfaces(type);
		factory.setTarget(new Object());
		factory.addAdvice((MethodInterceptor) (invocation) -> held());
		LocalLocks.runner().withBean("bean", Object.class, factory::getProxy).run((context) -> {
			assertThat(context).hasNotFailed();
			test.accept(context.getBean("bean"));
		});
	}

	/** The bean is a proxy that Spring has not made, as a client of HTTP is. */
	private static void withClientOf(Class<?> type) {
		InvocationHandler handler = (proxy, method, arguments) -> method.getName().equals("call") ? held() : 1;
		LocalLocks.runner()
			.withBean("bean", Object.class,
					() -> Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, handler))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(call(context.getBean("bean"), "call")).isEqualTo("stock:7");
				assertThat(callGeneric(context.getBean("bean"))).isEqualTo("stock:7");
			});
	}

	private static Object call(Object bean, String function) {
		Method method = ReflectionUtils.findMethod(bean.getClass(), function, long.class);
		return ReflectionUtils.invokeMethod(method, bean, 7L);
	}

	@SuppressWarnings("unchecked")
	private static Object callGeneric(Object bean) {
		return ((Generic<Long>) bean).call(7L);
	}

	/** The base of all functions. */
	interface Generic<T> {

		String call(T id);

	}

	/** A base whose overrides inherit its lock. */
	interface LockedGeneric<T> extends Generic<T> {

		@Override
		@DistributedLock(name = "stock", key = "#p0")
		String call(T id);

	}

	interface Overloading extends LockedGeneric<Long> {

		@DistributedLock(name = "other", key = "#p0")
		String call(long id);

	}

	static class Locked<T> implements Generic<T> {

		@Override
		@DistributedLock(name = "stock", key = "#p0")
		public String call(T id) {
			return held();
		}

	}

	static class Unannotated<T> implements Generic<T> {

		@Override
		public String call(T id) {
			return held();
		}

	}

}
