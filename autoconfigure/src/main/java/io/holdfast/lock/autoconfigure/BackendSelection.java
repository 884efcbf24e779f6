package io.holdfast.lock.autoconfigure;

import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.aot.AotDetector;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.env.Environment;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.support.Failures;
import io.holdfast.lock.support.NearestName;

/**
 * Selects the default backend: the one named by the property, otherwise the only
 * configured one, otherwise the backend of this JVM. A configured store that cannot be
 * used is an error, because its locks would silently become locks of this JVM.
 */
final class BackendSelection {

	private static final Log logger = LogFactory.getLog(BackendSelection.class);

	private static final String LOCAL = "local";

	private final List<LockBackend> backends;

	private final List<String> names;

	private final Environment environment;

	private final ConfigurableListableBeanFactory beans;

	private final String namespace;

	BackendSelection(List<LockBackend> backends, Environment environment, ConfigurableListableBeanFactory beans,
			String namespace) {
		this.backends = backends;
		this.names = backends.stream().map(LockBackend::name).toList();
		this.environment = environment;
		this.beans = beans;
		this.namespace = namespace;
	}

	/**
	 * Checks before any store is asked that only one is configured, or that one is named.
	 * A store that happens to be unreachable must not hide the ambiguity.
	 * @throws LockConfigurationException if the default is ambiguous
	 */
	static void requireOneDefault(Environment environment, ConfigurableListableBeanFactory beans) {
		if (LockStore.named(environment) == null) {
			requireAtMostOne(Arrays.stream(LockStore.values())
				.filter((store) -> store.isSupported(beans.getBeanClassLoader())
						&& store.evidence(environment, beans) != null)
				.map(LockStore::id)
				.toList());
		}
	}

	private static void requireAtMostOne(Collection<String> configured) {
		if (configured.size() > 1) {
			throw new LockConfigurationException(
					"Several backends are configured, %s, but no default is set. Set '%s' to one of them."
						.formatted(configured, LockStore.BACKEND));
		}
	}

	/**
	 * Selects the default backend.
	 * @return the backends with their default
	 * @throws LockConfigurationException if a configured store cannot be used, or if the
	 * default is ambiguous
	 */
	LockBackends select() {
		for (LockStore store : LockStore.values()) {
			String setting = store.ownSetting(this.environment);
			if (setting != null && (!isSupported(store) || evidence(store) != null)) {
				requireUsable(store, setting, "or remove these settings");
			}
		}
		String named = LockStore.named(this.environment);
		String selected = (named != null) ? requireKnown(named) : onlyConfigured();
		LockBackends all = new LockBackends(this.backends, selected);
		report(selected, named);
		return all;
	}

	/**
	 * Logs the selected backend at INFO. {@link #onlyConfigured()} has logged a missing
	 * store at WARN.
	 */
	private void report(String selected, @Nullable String named) {
		String reason = (named != null) ? "'%s' names it".formatted(LockStore.BACKEND) : reason(selected);
		if (reason != null) {
			List<String> others = this.names.stream()
				.filter((name) -> !name.equals(selected) && !name.equals(LOCAL))
				.toList();
			logger.info("Using lock backend '%s', because %s%s%s".formatted(selected, reason,
					others.isEmpty() ? "" : "; also available: " + others,
					selected.equals(LOCAL) ? ""
							: "; namespace '%s', whose locks are shared by all applications that use it"
								.formatted(this.namespace)));
		}
	}

	private @Nullable String reason(String selected) {
		for (LockStore store : LockStore.values()) {
			if (store.id().equals(selected)) {
				return evidence(store);
			}
		}
		return selected.equals(LOCAL) ? null : "it is the only one";
	}

	/**
	 * Selects the default backend of a test slice, which stands in for stores that the
	 * slice does not have.
	 * @return the backends with their default
	 */
	LockBackends selectForSlice() {
		String named = LockStore.named(this.environment);
		String known = (named != null) ? known(named) : null;
		return LockBackends.withStandIn(this.backends, (known != null) ? known : LOCAL);
	}

	private String requireKnown(String named) {
		for (LockStore store : LockStore.values()) {
			if (store.id().equals(named)) {
				requireUsable(store, "'%s' names it".formatted(LockStore.BACKEND), "or use one of " + this.names);
			}
		}
		String known = known(named);
		if (known == null) {
			Stream<String> stores = Arrays.stream(LockStore.values()).map(LockStore::id);
			String nearest = NearestName.of(named, Stream.concat(this.names.stream(), stores).toList());
			throw new LockConfigurationException(
					"The property '%s' is '%s', but no such backend exists. %sConfigured are %s. Configure the store of the one that you mean, or define a LockBackend bean with that name."
						.formatted(LockStore.BACKEND, named,
								(nearest != null) ? "Did you mean '%s'? ".formatted(nearest) : "", this.names));
		}
		return known;
	}

	private @Nullable String known(String named) {
		return this.names.stream().filter(named::equalsIgnoreCase).findFirst().orElse(null);
	}

	private String onlyConfigured() {
		Set<String> configured = new LinkedHashSet<>(this.names);
		configured.remove(LOCAL);
		for (LockStore store : LockStore.values()) {
			String evidence = evidence(store);
			if (evidence != null) {
				requireUsable(store, evidence,
						"or set '%s' to another backend, or to 'local' if this application has only one instance"
							.formatted(LockStore.BACKEND));
				configured.add(store.id());
			}
		}
		requireAtMostOne(configured);
		if (configured.isEmpty()) {
			logger.warn("No backend is configured, so locks are kept in this JVM only: "
					+ "they do not exclude other instances of this application, and a restart loses them. "
					+ "For several instances, set 'distributed-lock.backend' and configure its store. "
					+ "For a single instance, set 'distributed-lock.backend=local'.");
			return LOCAL;
		}
		return configured.iterator().next();
	}

	private void requireUsable(LockStore store, String evidence, String alternative) {
		if (this.names.contains(store.id())) {
			return;
		}
		String fact = "The backend '%s' is configured, because %s, but ".formatted(store.id(), evidence);
		if (!isSupported(store)) {
			throw new LockConfigurationException(fact + "its client is not on the class path. %s, %s."
				.formatted(Failures.withoutPeriod(store.remedy(this.environment)), alternative));
		}
		if (AotDetector.useGeneratedArtifacts()) {
			throw new LockConfigurationException(fact
					+ "was not when this application was processed ahead of time, and conditions are not evaluated again. Set '%s=%s' for the build as well, %s."
						.formatted(LockStore.BACKEND, store.id(), alternative));
		}
		throw new LockConfigurationException(
				fact + "its auto-configuration was not applied. Include it, %s. Start with '--debug' to see the reason."
					.formatted(alternative));
	}

	private boolean isSupported(LockStore store) {
		return store.isSupported(this.beans.getBeanClassLoader());
	}

	private @Nullable String evidence(LockStore store) {
		return store.evidence(this.environment, this.beans);
	}

}
