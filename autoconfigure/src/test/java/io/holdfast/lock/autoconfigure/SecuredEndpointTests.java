package io.holdfast.lock.autoconfigure;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

import org.junit.jupiter.api.Test;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.security.autoconfigure.actuate.web.servlet.EndpointRequest;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.test.Slow;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that Spring Security protects the forced release over HTTP as documented.
 */
@Slow
class SecuredEndpointTests {

	@Test
	void onlyOperatorsReleaseByForce() throws Exception {
		try (ConfigurableApplicationContext context = start(Secured.class, Users.class);
				LockHandle handle = context.getBean(LockOperations.class).acquire(LockRequest.of("stock", 42))) {
			assertThat(send(context, "GET", "guest")).isEqualTo(HttpStatus.OK.value());
			assertThat(send(context, "DELETE", "guest")).isEqualTo(HttpStatus.FORBIDDEN.value());
			assertThat(send(context, "GET", "nobody")).isEqualTo(HttpStatus.UNAUTHORIZED.value());
			assertThat(send(context, "DELETE", "nobody")).isEqualTo(HttpStatus.UNAUTHORIZED.value());
			assertThat(handle.isHeld()).isTrue();
			assertThat(send(context, "DELETE", "operator")).isEqualTo(HttpStatus.OK.value());
			assertThat(handle.isHeld()).isFalse();
		}
	}

	@Test
	void defaultProtectionAgainstCsrfForbidsAForcedRelease() throws Exception {
		try (ConfigurableApplicationContext context = start(Users.class);
				LockHandle handle = context.getBean(LockOperations.class).acquire(LockRequest.of("stock", 42))) {
			assertThat(send(context, "GET", "operator")).isEqualTo(HttpStatus.OK.value());
			// 403, but the default chain guards its dispatch to /error, too
			assertThat(send(context, "DELETE", "operator")).isEqualTo(HttpStatus.UNAUTHORIZED.value());
			assertThat(handle.isHeld()).isTrue();
		}
	}

	private static ConfigurableApplicationContext start(Class<?>... configurations) {
		return new SpringApplicationBuilder(configurations).web(WebApplicationType.SERVLET)
			.properties("server.port=0", "distributed-lock.backend=local", "spring.cloud.zookeeper.enabled=false",
					"spring.datasource.generate-unique-name=true",
					"management.endpoints.web.exposure.include=distributedlocks",
					"management.endpoint.distributedlocks.access=unrestricted")
			.run();
	}

	private static int send(ConfigurableApplicationContext context, String method, String user) throws Exception {
		String credentials = Base64.getEncoder().encodeToString((user + ":secret").getBytes(StandardCharsets.UTF_8));
		String port = context.getEnvironment().getProperty("local.server.port");
		HttpRequest request = HttpRequest
			.newBuilder(URI.create("http://localhost:" + port + "/actuator/distributedlocks/stock:42"))
			.header("Authorization", "Basic " + credentials)
			.method(method, HttpRequest.BodyPublishers.noBody())
			.build();
		return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
	}

	/**
	 * The configuration of the documentation.
	 */
	@Configuration(proxyBeanMethods = false)
	static class Secured {

		// tag::chain[]
		@Bean
		@Order(0)
		SecurityFilterChain lockEndpoint(HttpSecurity http) {
			EndpointRequest.EndpointRequestMatcher locks = EndpointRequest.to("distributedlocks");
			return http.securityMatcher(locks)
				.authorizeHttpRequests((requests) -> requests.requestMatchers(locks.withHttpMethod(HttpMethod.DELETE))
					.hasRole("OPERATOR")
					.anyRequest()
					.authenticated())
				.httpBasic(Customizer.withDefaults())
				.csrf((csrf) -> csrf.ignoringRequestMatchers(locks))
				.build();
		}
		// end::chain[]

	}

	/**
	 * An application that configures only its users.
	 */
	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Users {

		@Bean
		UserDetailsService users() {
			return new InMemoryUserDetailsManager(
					User.withUsername("guest").password("{noop}secret").roles("GUEST").build(),
					User.withUsername("operator").password("{noop}secret").roles("OPERATOR").build());
		}

	}

}
