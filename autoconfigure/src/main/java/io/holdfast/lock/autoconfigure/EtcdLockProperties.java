package io.holdfast.lock.autoconfigure;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.NestedConfigurationProperty;
import org.springframework.boot.context.properties.bind.DefaultValue;

import io.holdfast.lock.LockConfigurationException;

/**
 * Settings of locks in etcd.
 *
 * @param endpoints Addresses of the members, such as 'http://10.0.0.1:2379', or
 * 'https://10.0.0.1:2379' for TLS.
 * @param username Login username.
 * @param password Login password.
 * @param authority Name to verify the members' certificates against, if it differs from
 * the endpoint.
 * @param ssl TLS to the members.
 */
@ConfigurationProperties("distributed-lock.etcd")
record EtcdLockProperties(@DefaultValue List<String> endpoints, @Nullable String username, @Nullable String password,
		@Nullable String authority, @NestedConfigurationProperty @DefaultValue LockSsl ssl) {

	static final String ENDPOINTS = "distributed-lock.etcd.endpoints";

	private static final int LAST_PORT = 65535;

	/** Returns the endpoints, each with a scheme and a host. */
	List<URI> uris() {
		if (this.endpoints.isEmpty()) {
			throw new LockConfigurationException(
					"The backend 'etcd' is configured, but '%s' is empty. Set it to the addresses of the members, such as http://127.0.0.1:2379."
						.formatted(ENDPOINTS));
		}
		List<URI> uris = this.endpoints.stream().map(EtcdLockProperties::uri).toList();
		if (uris.stream().map(URI::getScheme).distinct().count() > 1) {
			throw new LockConfigurationException(
					"'%s' is %s, which mixes http and https. Use TLS for all members or for none.".formatted(ENDPOINTS,
							this.endpoints));
		}
		return uris;
	}

	private static URI uri(String endpoint) {
		try {
			URI uri = new URI(endpoint.strip());
			boolean known = "http".equals(uri.getScheme()) || "https".equals(uri.getScheme());
			if (known && uri.getHost() != null && uri.getUserInfo() == null && uri.getPort() <= LAST_PORT) {
				return uri;
			}
		}
		catch (URISyntaxException ex) {
			// reported below, without a password that it may contain
		}
		throw new LockConfigurationException(
				"'%s' contains an invalid etcd address%s. Use http://host:port, or https://host:port for TLS. Set a user in 'distributed-lock.etcd.username'."
					.formatted(ENDPOINTS, endpoint.contains("@") ? "" : ": '" + endpoint + "'"));
	}

	/** Omits secrets. */
	@Override
	public String toString() {
		return "EtcdLockProperties[endpoints=%s, authority=%s, ssl=%s]".formatted(this.endpoints.size(), this.authority,
				this.ssl);
	}

}
