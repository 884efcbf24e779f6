package io.holdfast.lock.interceptor;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.OverridingClassLoader;
import org.springframework.util.ClassUtils;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockContext;

import static io.holdfast.lock.interceptor.LocalLocks.held;
import static io.holdfast.lock.interceptor.LocalLocks.with;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for the key of an annotation: the variables of its expression, its placeholders,
 * and the locks that it names.
 */
class KeyExpressionTests {

	private final ApplicationContextRunner runner = LocalLocks.runner().withBean("tenants", Tenants.class);

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
		with(Keys.class, this.runner, (bean) -> {
			for (int i = 0; i < 1_000; i++) {
				assertThat(bean.property(new Item(i))).isEqualTo("k:" + i);
			}
		});
	}

	@Test
	void nullAndBlankKeysAreErrorsAndTheBodyDoesNotRun() {
		with(Keys.class, this.runner, (bean) -> {
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

	/** Such as that of a secured bean, which a web application answers with 403. */
	@Test
	void exceptionOfABeanReachesTheCallerAsItIs() {
		with(KeyOfDenyingBean.class, this.runner, (bean) -> {
			assertThatExceptionOfType(DeniedException.class).isThrownBy(bean::whole);
			assertThatExceptionOfType(DeniedException.class).isThrownBy(() -> bean.part("x"));
			assertThatExceptionOfType(DeniedException.class).isThrownBy(bean::property);
			assertThatExceptionOfType(DeniedException.class).isThrownBy(bean::index);
		});
	}

	/** It is the application's code as well. */
	@Test
	void exceptionOfAStaticMethodReachesTheCallerAsItIs() {
		with(KeyOfDenyingBean.class, this.runner,
				(bean) -> assertThatExceptionOfType(DeniedException.class).isThrownBy(bean::type));
	}

	@Test
	void exceptionOfAConstructorReachesTheCallerAsItIs() {
		with(KeyOfDenyingBean.class, this.runner,
				(bean) -> assertThatExceptionOfType(DeniedException.class).isThrownBy(bean::construction));
	}

	@Test
	void collectionAndArrayKeysLockAllInOrder() {
		with(Keys.class, this.runner, (bean) -> {
			assertThat(bean.collection(List.of(3, 1, 2, 1))).containsExactly("k:1", "k:2", "k:3");
			assertThat(bean.array(new long[] { 2, 1 })).containsExactly("k:1", "k:2");
			assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> bean.collection(List.of()))
				.withMessageContaining("is empty");
			assertThatExceptionOfType(LockConfigurationException.class)
				.isThrownBy(() -> bean.collection(Arrays.asList(1, null)))
				.withMessageContaining("has an element that is null");
		});
	}

	@Test
	void placeholdersInAKeyAreResolved() {
		with(KeyPlaceholders.class, this.runner, (bean) -> assertThat(bean.call(1)).isEqualTo("stock:1-eu"));
		this.runner.withPropertyValues("app.region=us")
			.withBean(KeyPlaceholders.class)
			.run((context) -> assertThat(context.getBean(KeyPlaceholders.class).call(1)).isEqualTo("stock:1-us"));
	}

	@Test
	void argumentInATemplateStopsTheStart() {
		for (Class<?> type : List.of(TemplateKey.class, PropertyTemplateKey.class, OpenTemplateKey.class,
				TemplateName.class)) {
			this.runner.withBean(type)
				.run((context) -> assertThat(context).getFailure()
					.hasStackTraceContaining("LockConfigurationException: @DistributedLock on "
							+ MethodText.of(type.getMethod("call", String.class)) + ": its ")
					.hasStackTraceContaining(
							"whose #{...} is evaluated once, at startup, where the arguments of a call"));
		}
		with(StartupTemplateKey.class, this.runner, (bean) -> assertThat(bean.call("7")).isEqualTo("k:acme-7"));
	}

	@Test
	void typeIsFoundWhateverTheContextClassLoaderOfTheThread() {
		with(TypeKeys.class, this.runner, (bean) -> {
			Thread current = Thread.currentThread();
			ClassLoader own = current.getContextClassLoader();
			current.setContextClassLoader(ClassLoader.getPlatformClassLoader());
			try {
				assertThat(bean.call(1)).isEqualTo("k:eu-1");
			}
			finally {
				current.setContextClassLoader(own);
			}
		});
	}

	@Test
	void typeOfTheApplicationsClassLoaderStaysItsOwnWhenCompiled() {
		ClassLoader loader = new OverridingClassLoader(KeyExpressionTests.class.getClassLoader()) {
			@Override
			protected boolean isEligibleForOverriding(String className) {
				return className.startsWith(TypeKeys.class.getName()) || className.equals(Regions.class.getName());
			}
		};
		Class<?> type = ClassUtils.resolveClassName(TypeKeys.class.getName(), loader);
		assertThat(type).isNotEqualTo(TypeKeys.class);
		this.runner.withClassLoader(loader).withBean(type).run((context) -> {
			assertThat(context).hasNotFailed();
			Object bean = context.getBean(type);
			Method call = ClassUtils.getMethod(type, "loader");
			for (int i = 0; i < 300; i++) {
				assertThat(call.invoke(bean)).isEqualTo("k:" + System.identityHashCode(loader));
			}
		});
	}

	record Item(long id) {
	}

	public static final class Regions {

		private Regions() {
		}

		public static String of(long id) {
			return "eu-" + id;
		}

		public static String denied() {
			throw new DeniedException();
		}

		public static int loader() {
			return System.identityHashCode(Regions.class.getClassLoader());
		}

	}

	public static class TypeKeys {

		@DistributedLock(name = "k", key = "T(io.holdfast.lock.interceptor.KeyExpressionTests$Regions).of(#id)")
		public String call(long id) {
			return held();
		}

		@DistributedLock(name = "k", key = "T(io.holdfast.lock.interceptor.KeyExpressionTests$Regions).loader()")
		public String loader() {
			return LockContext.handles().get(0).lock().toString();
		}

	}

	public static class Denying {

		public Denying() {
			throw new DeniedException();
		}

	}

	static class Tenants {

		public String denied() {
			throw new DeniedException();
		}

		public String getRefused() {
			throw new DeniedException();
		}

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

	static class KeyOfDenyingBean {

		@DistributedLock(name = "k", key = "'a' + @tenants.denied()")
		public void whole() {
		}

		@DistributedLock(name = "k", key = "'a' + @tenants.refused")
		public void property() {
		}

		@DistributedLock(name = "k", key = "@tenants['refused']")
		public void index() {
		}

		@DistributedLock(name = "k", keys = { "#id", "@tenants.denied()" })
		public void part(String id) {
		}

		@DistributedLock(name = "k", key = "T(io.holdfast.lock.interceptor.KeyExpressionTests$Regions).denied()")
		public void type() {
		}

		@DistributedLock(name = "k", key = "new io.holdfast.lock.interceptor.KeyExpressionTests$Denying().toString()")
		public void construction() {
		}

	}

	/** An exception of the application. */
	static class DeniedException extends RuntimeException {

		private static final long serialVersionUID = 1L;

	}

	static class KeyPlaceholders {

		@DistributedLock(name = "stock", key = "#id + '-${app.region:eu}'")
		public String call(long id) {
			return held();
		}

	}

	static class TemplateKey {

		@DistributedLock(name = "k", key = "'order-#{#id}'")
		public String call(String id) {
			return held();
		}

	}

	static class PropertyTemplateKey {

		@DistributedLock(name = "k", key = "#{id}")
		public String call(String id) {
			return held();
		}

	}

	static class OpenTemplateKey {

		@DistributedLock(name = "k", key = "#{'x")
		public String call(String id) {
			return held();
		}

	}

	static class TemplateName {

		@DistributedLock(name = "order-#{#id}", key = "#id")
		public String call(String id) {
			return held();
		}

	}

	static class StartupTemplateKey {

		@DistributedLock(name = "k", key = "'#{tenants.current()}-' + #id")
		public String call(String id) {
			return held();
		}

	}

}
