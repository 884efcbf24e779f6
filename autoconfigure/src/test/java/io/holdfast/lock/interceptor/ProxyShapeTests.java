package io.holdfast.lock.interceptor;

import java.util.function.Consumer;

import org.aopalliance.intercept.MethodInterceptor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.ProxyFactoryBean;
import org.springframework.aop.support.DelegatingIntroductionInterceptor;
import org.springframework.aop.target.AbstractLazyCreationTargetSource;
import org.springframework.aop.target.EmptyTargetSource;
import org.springframework.aop.target.HotSwappableTargetSource;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.interceptor.PlainBeans.Plain;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the locks of beans that are proxies of Spring AOP already, of several
 * interfaces or with a target of their own kind.
 */
class ProxyShapeTests {

	private final ApplicationContextRunner runner = LocalLocks.runner();

	private void with(ProxyFactory factory, Consumer<Object> use) {
		this.runner.withBean("bean", Object.class, factory::getProxy).run((context) -> {
			assertThat(context).hasNotFailed();
			use.accept(context.getBean("bean"));
		});
	}

	@Test
	void otherInterfaceOfAProxyWithoutATargetHasNoLock() {
		ProxyFactory factory = new ProxyFactory(Client.class, Health.class);
		factory.addAdvice((MethodInterceptor) (invocation) -> LocalLocks.allHeld());
		with(factory, (bean) -> {
			assertThat(((Client) bean).run("a")).isEqualTo("[client:a]");
			assertThat(((Health) bean).status()).isEqualTo("[]");
		});
	}

	@Test
	void interfacesOfAProxyWithoutATargetHaveTheirOwnLocks() {
		ProxyFactory factory = new ProxyFactory(Client.class, Inheriting.class, Part.class);
		factory.addAdvice((MethodInterceptor) (invocation) -> LocalLocks.allHeld());
		with(factory, ProxyShapeTests::requireOwnLocks);
	}

	private static void requireOwnLocks(Object bean) {
		assertThat(((Client) bean).run("a")).isEqualTo("[client:a]");
		assertThat(((Health) bean).status()).isEqualTo("[inheriting]");
		assertThat(((Part) bean).first()).isEqualTo("[first]");
		assertThat(((Part) bean).second()).isEqualTo("[]");
	}

	@Test
	void interfacesThatTheTargetDoesNotImplementHaveTheirOwnLocks() {
		ProxyFactory factory = new ProxyFactory(Client.class, Inheriting.class, Part.class);
		factory.setTarget(new Object());
		factory.addAdvice((MethodInterceptor) (invocation) -> LocalLocks.allHeld());
		with(factory, ProxyShapeTests::requireOwnLocks);
	}

	@Test
	void severalLockedInterfacesThatAreAddedToAClassStopTheStart() {
		this.runner.withBean("bean", Object.class, () -> {
			ProxyFactory factory = new ProxyFactory(Client.class, Inheriting.class);
			factory.setProxyTargetClass(true);
			factory.setTarget(new WholePlain());
			return factory.getProxy();
		})
			.run((context) -> assertThat(RefusedBeans.failure(context)).hasMessageContainingAll(
					"ProxyShapeTests$WholePlain", "ProxyShapeTests$Client' and '", "ProxyShapeTests$Inheriting'"));
	}

	@Test
	void interfaceThatAnotherOneExtendsDoesNotReplaceItsLock() {
		ProxyFactory factory = new ProxyFactory(Part.class, SubPart.class);
		factory.setTarget(new Object());
		factory.addAdvice((MethodInterceptor) (invocation) -> LocalLocks.allHeld());
		with(factory, (bean) -> assertThat(((Part) bean).first()).isEqualTo("[sub]"));
	}

	@Test
	void otherInterfaceOfARepositoryHasNoLock() {
		ProxyFactory factory = new ProxyFactory(Client.class, Health.class);
		factory.setTarget(new Object());
		factory.addAdvice((MethodInterceptor) (invocation) -> LocalLocks.allHeld());
		with(factory, (bean) -> {
			assertThat(((Client) bean).run("a")).isEqualTo("[client:a]");
			assertThat(((Health) bean).status()).isEqualTo("[]");
		});
	}

	@Test
	void introducedInterfaceHasNoLock() {
		ProxyFactory factory = new ProxyFactory(new LockedClass());
		factory.addAdvice(new DelegatingIntroductionInterceptor((Health) LocalLocks::allHeld));
		with(factory, (bean) -> assertThat(((Health) bean).status()).isEqualTo("[]"));
	}

	/** The proxy does not show the annotation of its target. */
	@Test
	void opaqueProxyOfAProxyFactoryBeanHasTheLockOfItsTarget() {
		this.runner.withBean("bean", ProxyFactoryBean.class, () -> {
			ProxyFactoryBean factory = new ProxyFactoryBean();
			factory.setTarget(new LockedPlain());
			factory.setOpaque(true);
			return factory;
		}).run((context) -> assertThat(context.getBean(Plain.class).run()).isEqualTo("[plain]"));
	}

	@Test
	void proxyOfAFactoryThatIsItselfTheBeanHasTheLockOfItsTarget() {
		this.runner.withBean(ProxyFactory.class, () -> new ProxyFactory(new LockedPlain()))
			.run((context) -> assertThat(((Plain) context.getBean(ProxyFactory.class).getProxy()).run())
				.isEqualTo("[plain]"));
	}

	@Test
	void frozenProxyOfAProxyFactoryBeanStopsTheStart() {
		this.runner.withBean("bean", ProxyFactoryBean.class, () -> {
			ProxyFactoryBean factory = new ProxyFactoryBean();
			factory.setTarget(new LockedPlain());
			factory.setFrozen(true);
			return factory;
		}).withBean(User.class).run(ProxyShapeTests::requireStoppedByFrozenProxy);
	}

	@Test
	void frozenProxyStopsTheStart() {
		ProxyFactory factory = new ProxyFactory(new LockedPlain());
		factory.setFrozen(true);
		this.runner.withBean("bean", Object.class, factory::getProxy).run(ProxyShapeTests::requireStoppedByFrozenProxy);
	}

	/** Unlike other targets that change, the target is no bean. */
	@Test
	void frozenProxyWithAnExchangeableTargetStopsTheStart() {
		ProxyFactory factory = new ProxyFactory(Plain.class, new HotSwappableTargetSource(new LockedPlain()));
		factory.setFrozen(true);
		this.runner.withBean("bean", Object.class, factory::getProxy).run(ProxyShapeTests::requireStoppedByFrozenProxy);
	}

	private static void requireStoppedByFrozenProxy(AssertableApplicationContext context) {
		assertThat(RefusedBeans.failure(context)).hasMessageContainingAll("ProxyShapeTests$LockedPlain", "'bean'",
				"frozen");
	}

	@Test
	void targetThatIsCreatedLaterHasTheLocksOfItsClass() {
		ProxyFactory factory = new ProxyFactory();
		factory.setInterfaces(Part.class);
		factory.setTargetSource(new AbstractLazyCreationTargetSource() {

			@Override
			protected Object createObject() {
				return new WholePart();
			}

		});
		with(factory, (bean) -> {
			assertThat(((Part) bean).first()).isEqualTo("[first]");
			assertThat(((Part) bean).second()).isEqualTo("[second]");
		});
	}

	@Test
	void proxyThatNamesAClassWithoutATargetHasItsLock() {
		ProxyFactory factory = new ProxyFactory();
		factory.setInterfaces(Inheriting.class);
		factory.setTargetSource(EmptyTargetSource.forClass(Inheriting.class));
		factory.addAdvice((MethodInterceptor) (invocation) -> LocalLocks.allHeld());
		with(factory, (bean) -> assertThat(((Health) bean).status()).isEqualTo("[inheriting]"));
	}

	private static Object advised(Class<?> type, @Nullable Object target) {
		ProxyFactory factory = new ProxyFactory();
		factory.setInterfaces(type);
		if (target != null) {
			factory.setTarget(target);
		}
		factory.addAdvice((MethodInterceptor) (invocation) -> LocalLocks.allHeld());
		return factory.getProxy();
	}

	private void withAspect(Object bean, Consumer<Object> use) {
		LocalLocks.withAspect(this.runner.withBean("bean", Object.class, () -> bean), (creator) -> {
		}).run((context) -> {
			assertThat(context).hasNotFailed();
			use.accept(context.getBean("bean"));
		});
	}

	/** As a client of HTTP to which an aspect applies. */
	@Test
	void clientBehindAnAspectHasTheLockOfItsInterface() {
		withAspect(advised(Client.class, null), (bean) -> assertThat(((Client) bean).run("a")).isEqualTo("[client:a]"));
		withAspect(advised(Inheriting.class, null),
				(bean) -> assertThat(((Health) bean).status()).isEqualTo("[inheriting]"));
	}

	/** As a Spring Data repository to which an aspect or a cache applies. */
	@ParameterizedTest
	@ValueSource(classes = { Client.class, Inheriting.class })
	void repositoryBehindAnAspectHasTheLockOfItsInterface(Class<?> type) {
		withAspect(advised(type, new Object()), (bean) -> {
			if (bean instanceof Client client) {
				assertThat(client.run("a")).isEqualTo("[client:a]");
			}
			else {
				assertThat(((Health) bean).status()).isEqualTo("[inheriting]");
			}
		});
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void interfacesOfAProxyBehindAnAspectHaveTheirOwnLocks(boolean hasTarget) {
		ProxyFactory factory = new ProxyFactory(Client.class, Inheriting.class, Part.class);
		if (hasTarget) {
			factory.setTarget(new Object());
		}
		factory.addAdvice((MethodInterceptor) (invocation) -> LocalLocks.allHeld());
		withAspect(factory.getProxy(), ProxyShapeTests::requireOwnLocks);
	}

	@Test
	void classBehindTwoProxiesHasItsLocks() {
		ProxyFactory factory = new ProxyFactory();
		factory.setInterfaces(Plain.class);
		factory.setTarget(new LockedPlain());
		withAspect(factory.getProxy(), (bean) -> assertThat(((Plain) bean).run()).isEqualTo("[plain]"));
	}

	@DistributedLock(name = "client", key = "#id")
	interface Client {

		String run(String id);

	}

	interface Health {

		String status();

	}

	@DistributedLock("inheriting")
	interface Inheriting extends Health {

	}

	@DistributedLock(name = "class", key = "#id")
	static class LockedClass {

		public @Nullable String run(String id) {
			return LocalLocks.allHeld();
		}

	}

	interface Part {

		@DistributedLock("first")
		String first();

		String second();

	}

	interface SubPart extends Part {

		@Override
		@DistributedLock("sub")
		String first();

	}

	static class WholePlain implements Plain {

		@Override
		public String run() {
			return LocalLocks.allHeld();
		}

	}

	static class WholePart implements Part {

		@Override
		public String first() {
			return LocalLocks.allHeld();
		}

		@Override
		@DistributedLock("second")
		public String second() {
			return LocalLocks.allHeld();
		}

	}

	record User(Plain bean) {
	}

	static class LockedPlain implements Plain {

		@Override
		@DistributedLock("plain")
		public String run() {
			return LocalLocks.allHeld();
		}

	}

}
