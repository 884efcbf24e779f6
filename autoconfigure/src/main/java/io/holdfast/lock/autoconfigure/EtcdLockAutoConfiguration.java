package io.holdfast.lock.autoconfigure;

import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

import javax.net.ssl.SSLException;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.ClientBuilder;
import io.netty.handler.ssl.SslContextBuilder;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.boot.ssl.SslOptions;
import org.springframework.context.annotation.Bean;
import org.springframework.util.StringUtils;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.backend.etcd.EtcdLockBackend;
import io.holdfast.lock.backend.etcd.EtcdLockOptions;

/**
 * Auto-configuration for the etcd backend, with its own client.
 */
@AutoConfiguration
@ConditionalOnClass(Client.class)
@ConditionalOnLocksEnabled
@ConditionalOnLockStore(LockStore.ETCD)
@EnableConfigurationProperties({ DistributedLockProperties.class, EtcdLockProperties.class })
public final class EtcdLockAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	EtcdLockBackend etcdLockBackend(DistributedLockProperties locks, StartupChecks checks, EtcdLockProperties etcd,
			ObjectProvider<SslBundles> bundles) {
		SslBundle ssl = etcd.ssl().find(bundles, "distributed-lock.etcd.ssl.bundle");
		EtcdLockBackend backend = new EtcdLockBackend(client(etcd, ssl),
				new EtcdLockOptions(locks.namespace(), locks.responseTimeout()));
		StartupCheck check = checks.of(LockStore.ETCD, "etcd at " + etcd.uris(),
				"Start etcd, or correct '%s'.".formatted(EtcdLockProperties.ENDPOINTS));
		checks.run(LockStore.ETCD, (close) -> check.run(backend::verify, close), backend::close);
		return backend;
	}

	private static ClientBuilder client(EtcdLockProperties etcd, @Nullable SslBundle ssl) {
		List<URI> endpoints = etcd.uris();
		ClientBuilder client = Client.builder();
		if (StringUtils.hasText(etcd.authority())) {
			client.authority(etcd.authority());
		}
		if (StringUtils.hasText(etcd.username())) {
			String password = etcd.password();
			if (!StringUtils.hasText(password)) {
				throw new LockConfigurationException(
						"'distributed-lock.etcd.username' is '%s', but 'distributed-lock.etcd.password' is empty. Set both, or neither if etcd requires no login or identifies the user by certificate."
							.formatted(etcd.username()));
			}
			client.user(bytes(etcd.username())).password(bytes(password));
		}
		else if (StringUtils.hasText(etcd.password())) {
			throw new LockConfigurationException(
					"'distributed-lock.etcd.password' is set, but 'distributed-lock.etcd.username' is empty. Set both, or neither if etcd requires no login or identifies the user by certificate.");
		}
		if (ssl != null || "https".equals(endpoints.get(0).getScheme())) {
			secure(client, ssl);
		}
		return client.endpoints(endpoints);
	}

	private static void secure(ClientBuilder client, @Nullable SslBundle ssl) {
		try {
			client.sslContext((context) -> {
				if (ssl != null) {
					apply(ssl, context);
				}
			});
		}
		catch (SSLException ex) {
			throw new LockConfigurationException(
					"TLS to etcd could not be configured: %s. Check the bundle in 'distributed-lock.etcd.ssl.bundle'."
						.formatted(ex.getMessage()),
					ex);
		}
	}

	private static void apply(SslBundle ssl, SslContextBuilder context) {
		context.trustManager(ssl.getManagers().getTrustManagerFactory())
			.keyManager(ssl.getManagers().getKeyManagerFactory());
		SslOptions options = ssl.getOptions();
		if (options.getEnabledProtocols() != null) {
			context.protocols(options.getEnabledProtocols());
		}
		if (options.getCiphers() != null) {
			context.ciphers(Arrays.asList(options.getCiphers()));
		}
	}

	private static ByteSequence bytes(String text) {
		return ByteSequence.from(text, StandardCharsets.UTF_8);
	}

}
