package io.holdfast.lock.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.ssl.NoSuchSslBundleException;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.util.StringUtils;

import io.holdfast.lock.LockConfigurationException;

/**
 * Settings of TLS to a store.
 *
 * @param bundle Name of the SSL bundle to use. Defaults to the JVM's trust store.
 */
record LockSsl(@Nullable String bundle) {

	/**
	 * Looks up the bundle.
	 * @param bundles the bundles of the application
	 * @param property the property that names the bundle, for the message
	 * @return the bundle, or {@code null} if none is named
	 * @throws LockConfigurationException if there is no such bundle
	 */
	@Nullable SslBundle find(ObjectProvider<SslBundles> bundles, String property) {
		if (!StringUtils.hasText(this.bundle)) {
			return null;
		}
		try {
			return bundles.getObject().getBundle(this.bundle);
		}
		catch (NoSuchSslBundleException ex) {
			throw new LockConfigurationException(
					"The property '%s' is '%s', but no SSL bundle with that name exists. Define it under 'spring.ssl.bundle', or remove the property to use the JVM's trust store."
						.formatted(property, this.bundle),
					ex);
		}
	}

}
