package io.holdfast.lock.autoconfigure;

import java.util.function.Supplier;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mockito.Mockito;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.core.PriorityOrdered;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.test.Slow;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for beans whose annotated methods would run without their locks.
 */
@ExtendWith(OutputCaptureExtension.class)
class UnlockedBeansTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(DistributedLockAutoConfiguration.class, LocalLockAutoConfiguration.class,
						LockInterceptorAutoConfiguration.class, LocksDisabledAutoConfiguration.class))
		.withPropertyValues("distributed-lock.backend=local");

	@Test
	void beanThatIsCreatedTooEarlyStopsTheStart() {
		this.runner.withUserConfiguration(EarlyShop.class)
			.run((context) -> assertThat(context).getFailure()
				.message()
				.contains("the bean 'shop' was created before locks could be added to beans",
						"UnlockedBeansTests$Shop.sell()", "ObjectProvider"));
	}

	/** As Spring does with the object of a {@code @TestBean} method. */
	@Test
	void objectThatIsRegisteredStopsTheStartWithItsOwnRemedy() {
		this.runner
			.withInitializer((context) -> context.getBeanFactory().registerSingleton("registeredShop", new Shop()))
			.run((context) -> assertThat(context).getFailure()
				.message()
				.contains("the bean 'registeredShop' was created before locks could be added to beans",
						"registered as an object, such as by @TestBean", "return the object from a @Bean method"));
	}

	@Test
	void productOfAFactoryThatIsCreatedTooEarlyStopsTheStart() {
		this.runner.withUserConfiguration(FactoryShop.class)
			.withUserConfiguration(NeedsShop.class)
			.run((context) -> assertThat(context).getFailure()
				.message()
				.contains("the bean 'shop' was created before locks could be added to beans"));
		this.runner.withUserConfiguration(FactoryShop.class)
			.run((context) -> assertThat(context.getBean(Shop.class).sell()).isTrue());
	}

	@Test
	void repositoryThatIsCreatedTooEarlyStopsTheStart() {
		Supplier<Catalog> repository = () -> {
			ProxyFactory factory = new ProxyFactory();
			factory.setInterfaces(Catalog.class);
			factory.setTarget(new Object());
			return (Catalog) factory.getProxy();
		};
		this.runner.withBean("catalog", Catalog.class, repository)
			.withBean(Processor.class, Processor::new, (definition) -> definition.setDependsOn("catalog"))
			.run((context) -> assertThat(context).getFailure()
				.message()
				.contains("the bean 'catalog' was created before locks could be added to beans", "Catalog.add()"));
		this.runner.withBean("catalog", Catalog.class, repository).run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void beanThatIsNeededLazilyIsLocked() {
		this.runner.withUserConfiguration(LateShop.class)
			.run((context) -> assertThat(context.getBean(Shop.class).sell()).isTrue());
	}

	@ParameterizedTest
	@ValueSource(strings = { "yes", "on", "1", "TRUE" })
	void otherTextsForTrueDoNotDisableLocks(String enabled) {
		this.runner.withUserConfiguration(LateShop.class)
			.withPropertyValues("distributed-lock.enabled=" + enabled)
			.run((context) -> assertThat(context.getBean(Shop.class).sell()).isTrue());
	}

	@ParameterizedTest
	@ValueSource(strings = { "ture", "2", "disabled", "" })
	void typoInTheSwitchStopsTheStart(String typo) {
		this.runner.withUserConfiguration(LateShop.class)
			.withPropertyValues("distributed-lock.enabled=" + typo)
			.run((context) -> assertThat(context).getFailure()
				.hasStackTraceContaining("Failed to bind properties under 'distributed-lock.enabled'"));
	}

	@Test
	void lazyScopedAndMockedBeansAreIgnored() {
		this.runner.withUserConfiguration(Lazily.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(context.getBeanFactory().containsSingleton("lazyShop")).isFalse();
			assertThat(context.getBean("scopedShop", Shop.class).sell()).isTrue();
			assertThat(context.getBean("lazyShop", Shop.class).sell()).isTrue();
		});
	}

	@Slow
	@ParameterizedTest
	@ValueSource(strings = { "false", "no", "off", "0" })
	void disabledLocksLogTheUnlockedBeans(String disabled, CapturedOutput output) {
		this.runner.withUserConfiguration(Lazily.class)
			.withPropertyValues("distributed-lock.enabled=" + disabled)
			.run((context) -> {
				assertThat(context.getBeanFactory().containsSingleton("lazyShop")).isFalse();
				assertThat(output).contains("WARN")
					.contains("Locks are disabled by 'distributed-lock.enabled=false'")
					.contains("lazyShop");
			});
	}

	@Test
	void disabledLocksWithoutLockedBeansAreNotLogged(CapturedOutput output) {
		this.runner.withPropertyValues("distributed-lock.enabled=false")
			.run((context) -> assertThat(output).doesNotContain("Locks are disabled"));
	}

	@ParameterizedTest
	@ValueSource(classes = { LateShop.class, LazyShop.class, PrototypeShop.class, FactoryShop.class })
	void beanOfAChildContextWithoutLockSupportStopsTheStartOfTheChild(Class<?> configuration) {
		this.runner.run((parent) -> {
			new ApplicationContextRunner().withParent(parent)
				.withUserConfiguration(configuration)
				.run((child) -> assertThat(child).getFailure()
					.isInstanceOf(LockConfigurationException.class)
					.message()
					.contains("UnlockedBeansTests$Shop.sell(): the bean 'shop' is in a child context",
							"@EnableAutoConfiguration", "LockInterceptorAutoConfiguration"));
			assertThat(parent.isActive()).isTrue();
		});
	}

	@ParameterizedTest
	@ValueSource(classes = { LateShop.class, LazyShop.class, PrototypeShop.class, FactoryShop.class })
	void beanOfAParentContextWithoutLockSupportStopsTheStart(Class<?> configuration) {
		new ApplicationContextRunner().withUserConfiguration(configuration)
			.run((parent) -> this.runner.withParent(parent)
				.run((child) -> assertThat(child).getFailure()
					.isInstanceOf(LockConfigurationException.class)
					.message()
					.contains("UnlockedBeansTests$Shop.sell(): the bean 'shop' is in a parent context",
							"@EnableAutoConfiguration to the parent context")));
	}

	@Test
	void childContextWithLockSupportLocks() {
		this.runner.run((parent) -> new ApplicationContextRunner().withParent(parent)
			.withUserConfiguration(LateShop.class)
			.withConfiguration(AutoConfigurations.of(LockInterceptorAutoConfiguration.class,
					LockTransactionAutoConfiguration.class, FencingAutoConfiguration.class))
			.run((child) -> assertThat(child.getBean(Shop.class).sell()).isTrue()));
	}

	@Test
	void childContextWithoutUnlockedBeansStarts() {
		this.runner.withUserConfiguration(LateShop.class)
			.run((parent) -> new ApplicationContextRunner().withParent(parent)
				.withBean("fromParent", Shop.class, () -> parent.getBean(Shop.class))
				.withBean("mock", Shop.class, () -> Mockito.mock(Shop.class))
				.run((child) -> assertThat(child).hasNotFailed()));
	}

	@Test
	void childContextThatDisablesLocksStarts() {
		this.runner.run((parent) -> new ApplicationContextRunner().withParent(parent)
			.withUserConfiguration(LateShop.class)
			.withPropertyValues("distributed-lock.enabled=false")
			.run((child) -> assertThat(child).hasNotFailed()));
	}

	static class Shop {

		@DistributedLock(name = "shop")
		public boolean sell() {
			return LockHandle.current().isPresent();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class EarlyShop {

		@Bean
		Shop shop() {
			return new Shop();
		}

		@Bean
		static Processor processor(Shop shop) {
			return new Processor();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class NeedsShop {

		@Bean
		static Processor processor(Shop shop) {
			return new Processor();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class LateShop {

		@Bean
		Shop shop() {
			return new Shop();
		}

		@Bean
		static Processor processor(ObjectProvider<Shop> shop) {
			return new Processor();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class LazyShop {

		@Bean
		@Lazy
		Shop shop() {
			return new Shop();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class PrototypeShop {

		@Bean
		@Scope("prototype")
		Shop shop() {
			return new Shop();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class FactoryShop {

		@Bean
		FactoryBean<Shop> shop() {
			return new FactoryBean<>() {

				@Override
				public Shop getObject() {
					return new Shop();
				}

				@Override
				public Class<?> getObjectType() {
					return Shop.class;
				}

			};
		}

	}

	/** An interface that the class behind it does not implement. */
	interface Catalog {

		@DistributedLock("catalog")
		void add();

	}

	static class Processor implements BeanPostProcessor, PriorityOrdered {

		@Override
		public int getOrder() {
			return 0;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Lazily {

		@Bean
		@Lazy
		Shop lazyShop() {
			return new Shop();
		}

		@Bean
		@Scope(scopeName = "prototype", proxyMode = ScopedProxyMode.TARGET_CLASS)
		Shop scopedShop() {
			return new Shop();
		}

		@Bean
		static BeanPostProcessor registersMock(ConfigurableListableBeanFactory beans) {
			beans.registerSingleton("mockedShop", Mockito.mock(Shop.class));
			return new Processor();
		}

	}

}
