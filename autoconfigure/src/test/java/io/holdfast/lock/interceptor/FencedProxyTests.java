package io.holdfast.lock.interceptor;

import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.ProxyFactoryBean;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;
import org.springframework.core.Ordered;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.autoconfigure.FencingAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockTransactionAutoConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that the fence is passed inside the transaction of a proxy that another proxy
 * wraps.
 */
class FencedProxyTests {

	private final ApplicationContextRunner runner = LocalLocks.runner()
		.withConfiguration(AutoConfigurations.of(LockTransactionAutoConfiguration.class, FencingAutoConfiguration.class,
				TransactionAutoConfiguration.class, DataSourceAutoConfiguration.class,
				JdbcTemplateAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class))
		.withPropertyValues("spring.datasource.generate-unique-name=true");

	/** As an aspect around a Spring Data repository, which is a proxy already. */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void methodBehindAnAspectIsFencedInItsTransaction(boolean proxyTargetClass) {
		LocalLocks.withAspect(this.runner.withBean("bean", FencedPlain.class), (creator) -> {
			// around the proxy that has the transaction
			creator.setOrder(Ordered.HIGHEST_PRECEDENCE + 1);
			creator.setProxyTargetClass(proxyTargetClass);
		}).withPropertyValues("spring.aop.proxy-target-class=" + proxyTargetClass).run((context) -> {
			assertThat(context.getBean(Plain.class).run()).isEqualTo("fenced");
			List<String> fences = context.getBean(JdbcTemplate.class)
				.queryForList("SELECT lock_name FROM holdfast_fence", String.class);
			assertThat(fences).containsExactly("fenced");
		});
	}

	@Test
	void proxyThatSeveralOthersWrapHasOneFence() {
		this.runner.withUserConfiguration(Wrappers.class).run((context) -> {
			context.getBean("outer");
			assertThat(((Plain) context.getBean("outer")).run()).isEqualTo("fenced");
			assertThat(((Advised) context.getBean("inner")).getAdvisors())
				.filteredOn((advisor) -> advisor.getAdvice() instanceof FenceInterceptor)
				.hasSize(1);
		});
	}

	/** The factory is a proxy's configuration, but has no transaction yet. */
	@Test
	void proxyOfAProxyFactoryBeanIsFencedInItsTransaction() {
		this.runner.withUserConfiguration(Factory.class).run((context) -> {
			assertThat(AdvisedBeans.chain(context.getBean("product"))).containsExactly("lock", "transaction");
			assertThat(((Plain) context.getBean("product")).run()).isEqualTo("fenced");
		});
	}

	@Configuration(proxyBeanMethods = false)
	static class Factory {

		@Bean
		ProxyFactoryBean product() {
			ProxyFactoryBean factory = new ProxyFactoryBean();
			factory.setTarget(new FencedPlain());
			factory.setInterceptorNames("transactionInterceptor");
			return factory;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Wrappers {

		@Bean
		FencedPlain inner() {
			return new FencedPlain();
		}

		@Bean
		@Scope("prototype")
		Plain outer(FencedPlain inner) {
			return (Plain) new ProxyFactory(inner).getProxy();
		}

	}

	interface Plain {

		String run();

	}

	static class FencedPlain implements Plain {

		@Override
		@Transactional
		@DistributedLock(name = "fenced", fenced = true)
		public String run() {
			return LocalLocks.held();
		}

	}

}
