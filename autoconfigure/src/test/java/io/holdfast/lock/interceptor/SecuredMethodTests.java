package io.holdfast.lock.interceptor;

import java.lang.reflect.Proxy;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpStatus;
import org.springframework.security.access.prepost.PreAuthorize;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.method.configuration.EnableMethodSecurity;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.util.ReflectionUtils;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for a web application with Spring Security. A caller without permission to call a
 * method neither acquires its lock nor waits for it.
 */
class SecuredMethodTests {

	@AutoClose
	private static final ConfigurableApplicationContext context = new SpringApplicationBuilder(Application.class)
		.web(WebApplicationType.SERVLET)
		.properties("server.port=0", "distributed-lock.backend=local", "distributed-lock.wait-time=5m",
				"spring.cloud.zookeeper.enabled=false", "spring.datasource.generate-unique-name=true")
		.run();

	@Test
	void callerWithoutTheRoleIsDeniedBeforeTheLockIsRequested() throws Exception {
		Requests requests = context.getBean(Requests.class);
		try (LockHandle other = context.getBean(LockOperations.class).acquire(LockRequest.of("stock"))) {
			assertThat(other.isHeld()).isTrue();
			requests.counted.set(0);
			assertThat(sell("guest")).isEqualTo(HttpStatus.FORBIDDEN.value());
			assertThat(requests.counted).hasValue(0);
		}
	}

	@Test
	void callerWithTheRoleAcquiresTheLock() throws Exception {
		Requests requests = context.getBean(Requests.class);
		requests.counted.set(0);
		assertThat(sell("seller")).isEqualTo(HttpStatus.OK.value());
		assertThat(requests.counted).hasValue(1);
	}

	private static int sell(String user) throws Exception {
		String credentials = Base64.getEncoder().encodeToString((user + ":secret").getBytes(StandardCharsets.UTF_8));
		HttpRequest request = HttpRequest
			.newBuilder(URI
				.create("http://localhost:" + context.getEnvironment().getProperty("local.server.port") + "/sales"))
			.header("Authorization", "Basic " + credentials)
			.POST(HttpRequest.BodyPublishers.noBody())
			.build();
		return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
	}

	/**
	 * The application under test.
	 */
	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableMethodSecurity
	static class Application {

		@Bean
		SecurityFilterChain security(HttpSecurity http) {
			return http.csrf((csrf) -> csrf.disable()).httpBasic(Customizer.withDefaults()).build();
		}

		@Bean
		UserDetailsService users() {
			return new InMemoryUserDetailsManager(
					User.withUsername("guest").password("{noop}secret").roles("GUEST").build(),
					User.withUsername("seller").password("{noop}secret").roles("SELLER").build());
		}

		@Bean
		Sales sales() {
			return new Sales();
		}

		@Bean
		Controller controller(Sales sales) {
			return new Controller(sales);
		}

		@Bean
		static Requests requests() {
			return new Requests();
		}

	}

	/**
	 * The web endpoint.
	 */
	@RestController
	static class Controller {

		private final Sales sales;

		Controller(Sales sales) {
			this.sales = sales;
		}

		@PostMapping("/sales")
		String sell() {
			return this.sales.sell();
		}

	}

	/**
	 * A secured and locked service.
	 */
	static class Sales {

		@PreAuthorize("hasRole('SELLER')")
		@DistributedLock("stock")
		@Transactional
		public String sell() {
			return "sold";
		}

	}

	/**
	 * Counts the lock requests.
	 */
	static class Requests implements BeanPostProcessor {

		private final AtomicInteger counted = new AtomicInteger();

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			if (!(bean instanceof LockOperations) || AopUtils.isAopProxy(bean)) {
				return bean;
			}
			return Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { LockOperations.class },
					(proxy, method, arguments) -> {
						if (!ReflectionUtils.isObjectMethod(method)) {
							this.counted.incrementAndGet();
						}
						return AopUtils.invokeJoinpointUsingReflection(bean, method, arguments);
					});
		}

	}

}
