package io.holdfast.lock.autoconfigure;

import java.time.Duration;
import java.util.Objects;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.EtcdServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link EtcdLockAutoConfiguration}.
 */
class EtcdLockAutoConfigurationTests {

	@AutoClose
	private static final EtcdServer plain = EtcdServer.started();

	@AutoClose
	private static final EtcdServer guarded = EtcdServer.started();

	@AutoClose
	private static final EtcdServer secured = EtcdServer.secured();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
				LocalLockAutoConfiguration.class, EtcdLockAutoConfiguration.class, SslAutoConfiguration.class))
		.withPropertyValues("distributed-lock.backend=etcd", "distributed-lock.namespace=shop");

	@BeforeAll
	static void enableAuthentication() {
		guarded.enableAuthentication("shop", "not-to-be-seen", "/holdfast/shop/");
	}

	private ApplicationContextRunner at(EtcdServer server, String... properties) {
		return this.runner.withPropertyValues("distributed-lock.etcd.endpoints=" + server.endpoint())
			.withPropertyValues(properties);
	}

	private static void assertLocks(ApplicationContextRunner runner) {
		runner.run((context) -> {
			assertThat(context).hasNotFailed();
			try (LockHandle handle = context.getBean(LockOperations.class).acquire(LockRequest.of("stock", 42))) {
				assertThat(handle.backend()).isEqualTo("etcd");
				assertThat(handle.isHeld()).isTrue();
			}
		});
	}

	private static void assertStopsWith(ApplicationContextRunner runner, String... texts) {
		runner.run((context) -> {
			assertThat(context).hasFailed();
			assertThat(messages(context.getStartupFailure())).contains(texts).doesNotContain("not-to-be-seen");
		});
	}

	private static String messages(Throwable failure) {
		StringBuilder messages = new StringBuilder();
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			messages.append(cause.getMessage()).append('\n');
		}
		return messages.toString();
	}

	@Test
	void keepsLocksInEtcd() {
		assertLocks(at(plain));
	}

	@Test
	void endpointsAloneConfigureTheStore() {
		assertLocks(at(plain, "distributed-lock.backend="));
	}

	@Test
	void logsInAndNeedsAccessToItsOwnKeysOnly() {
		assertLocks(
				at(guarded, "distributed-lock.etcd.username=shop", "distributed-lock.etcd.password=not-to-be-seen"));
	}

	@ParameterizedTest
	@CsvSource({ "shop,guessed,shop,invalid user ID or password", "shop,not-to-be-seen,other,permission denied",
			",,shop,user name is empty" })
	void refusedAccessStopsTheStart(String username, String password, String namespace, String reason) {
		assertStopsWith(
				at(guarded, "distributed-lock.namespace=" + namespace).withPropertyValues(
						"distributed-lock.etcd.username=" + ((username != null) ? username : ""),
						"distributed-lock.etcd.password=" + ((password != null) ? password : "")),
				reason, "distributed-lock.etcd.username", "/holdfast/" + namespace + "/");
	}

	@Test
	void loginAtAnEtcdWithoutUsersStopsTheStart() {
		assertStopsWith(
				at(plain, "distributed-lock.etcd.username=shop", "distributed-lock.etcd.password=not-to-be-seen"),
				"authentication is not enabled", "distributed-lock.etcd.username");
	}

	@Test
	void userWithoutPasswordStopsTheStart() {
		assertStopsWith(at(guarded, "distributed-lock.etcd.username=shop"),
				"'distributed-lock.etcd.username' is 'shop', but 'distributed-lock.etcd.password' is empty");
	}

	@Test
	void passwordWithoutUserStopsTheStart() {
		assertStopsWith(at(plain, "distributed-lock.etcd.password=not-to-be-seen"),
				"'distributed-lock.etcd.password' is set, but 'distributed-lock.etcd.username' is empty");
	}

	@Test
	void speaksTlsWithTheBundleOfTheApplication() {
		assertLocks(at(secured, "distributed-lock.etcd.ssl.bundle=etcd",
				"spring.ssl.bundle.pem.etcd.truststore.certificate=file:" + secured.certificate()));
	}

	@Test
	void certificateForTheConfiguredAuthorityIsAccepted() {
		String[] bundle = { "distributed-lock.etcd.ssl.bundle=etcd",
				"spring.ssl.bundle.pem.etcd.truststore.certificate=file:" + secured.certificate() };
		assertLocks(at(secured, bundle).withPropertyValues("distributed-lock.etcd.authority=localhost"));
		assertStopsWith(at(secured, bundle).withPropertyValues("distributed-lock.etcd.authority=elsewhere.example",
				"distributed-lock.startup-timeout=100ms"), "elsewhere.example");
	}

	@Test
	void untrustedCertificateStopsTheStart() {
		at(secured, "distributed-lock.startup-timeout=100ms")
			.run((context) -> assertThat(description(context.getStartupFailure()))
				.contains(secured.endpoint(), "has a certificate that this application does not accept: '",
						"certification path", "Renew it if it has expired", "'distributed-lock.etcd.ssl.bundle'")
				.doesNotContain("Channel Pipeline"));
	}

	private static String description(Throwable failure) {
		return Objects.requireNonNull(new StoreUnavailableFailureAnalyzer().analyze(failure)).getDescription();
	}

	@Slow
	@Test
	void serverThatStartsLaterIsUsed() {
		try (EtcdServer late = EtcdServer.started()) {
			late.kill();
			at(late).withPropertyValues("distributed-lock.fail-fast=false", "distributed-lock.wait-time=1s")
				.run((context) -> {
					LockOperations locks = context.getBean(LockOperations.class);
					assertThatExceptionOfType(LockBackendException.class)
						.isThrownBy(() -> locks.acquire(LockRequest.of("stock", 42)))
						.withMessageContaining("stock:42");
					late.start();
					Awaitility.await()
						.atMost(Duration.ofSeconds(30))
						.ignoreException(LockBackendException.class)
						.until(() -> locks.execute(LockRequest.of("stock", 42), LockHandle::isHeld));
				});
		}
	}

	@Test
	void unreachableServerStopsTheStartOrIsAwaited() {
		ApplicationContextRunner unreachable = this.runner.withPropertyValues(
				"distributed-lock.etcd.endpoints=http://127.0.0.1:1", "distributed-lock.startup-timeout=100ms");
		assertStopsWith(unreachable, "[http://127.0.0.1:1]", "Connection refused", "distributed-lock.fail-fast=false");
		unreachable.withPropertyValues("distributed-lock.fail-fast=false")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', value = { "''|is empty", "127.0.0.1:2379|an invalid etcd address: '127.0.0.1:2379'",
			"http://root:not-to-be-seen@h:1|distributed-lock.etcd.username",
			"http://h:1,https://h:2|mixes http and https", "http://h:65536|an invalid etcd address: 'http://h:65536'" })
	void invalidEndpointsStopTheStart(String endpoints, String fact) {
		assertStopsWith(this.runner.withPropertyValues("distributed-lock.etcd.endpoints=" + endpoints), fact,
				"distributed-lock.etcd.endpoints");
	}

}
