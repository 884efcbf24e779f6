package io.holdfast.lock.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.ssl.NoSuchSslBundleException;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.util.StringUtils;

import io.holdfast.lock.LockConfigurationException;

/**
 * Looks up the SSL bundle that a property names.
 */
final class LockSslBundle {

	private LockSslBundle() {
	}

	/**
	 * Returns the bundle of the given name.
	 * @param property the property that sets the name, for the message
	 * @param name the name, or {@code null} or empty for no bundle
	 * @return the bundle, or {@code null} if no name is given
	 * @throws LockConfigurationException if there is no such bundle
	 */
	static @Nullable SslBundle get(ObjectProvider<SslBundles> bundles, String property, @Nullable String name) {
		if (!StringUtils.hasText(name)) {
			return null;
		}
		try {
			return bundles.getObject().getBundle(name);
		}
		catch (NoSuchSslBundleException ex) {
			throw new LockConfigurationException(
					"The property '%s' is '%s', but no SSL bundle with that name exists. Define it under 'spring.ssl.bundle', or remove the property to use the JVM's trust store."
						.formatted(property, name),
					ex);
		}
	}

}
