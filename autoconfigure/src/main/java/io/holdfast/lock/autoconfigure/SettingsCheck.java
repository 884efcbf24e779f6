package io.holdfast.lock.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.util.ClassUtils;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.support.DurationText;
import io.holdfast.lock.support.NearestName;

/**
 * Checks for settings with unintended meaning: durations without a unit, durations of
 * more than a year, and unknown property names.
 */
final class SettingsCheck {

	private static final Log logger = LogFactory.getLog(SettingsCheck.class);

	private static final String PREFIX = "distributed-lock";

	/** The prefix in the uniform form used for comparison. */
	private static final String UNIFORM_PREFIX = "distributedlock";

	/** The prefix of environment variables with a dash as an underscore. */
	private static final String VARIABLES = "DISTRIBUTED_LOCK_";

	/** Prefixes of two elements that are written instead. */
	private static final List<ConfigurationPropertyName> WRONG_PREFIXES = List
		.of(ConfigurationPropertyName.of("distributed.lock"), ConfigurationPropertyName.of("spring.distributed-lock"));

	/** The settings that are durations, without the prefix. */
	static final List<String> DURATIONS = List.of("handoff.max-time", "health.timeout", "lease-time", "lock-delay",
			"redis.connection-timeout", "redis.wait-replicas-timeout", "redlock.connection-timeout",
			"redlock.longest-lease", "redlock.node-timeout", "redlock.quarantine-wait", "response-timeout",
			"shutdown-timeout", "startup-timeout", "sticky", "wait-time", "web.retry-after");

	/** All other settings. */
	static final List<String> OTHERS = List.of("await-release", "backend", "enabled", "etcd.authority",
			"etcd.endpoints", "etcd.password", "etcd.ssl.bundle", "etcd.username", "fail-fast", "fencing.data-source",
			"fencing.enabled", "fencing.initialize-schema", "fencing.table", "handoff.max-holds", "interrupt-on-loss",
			"jdbc.advisory.max-connections", "jdbc.data-source", "jdbc.initialize-schema", "jdbc.listen", "jdbc.mode",
			"jdbc.table", "logging.mdc", "metrics.enabled", "metrics.max-names", "namespace", "redis.address",
			"redis.client", "redis.database", "redis.password", "redis.ssl.bundle", "redis.username",
			"redis.wait-replicas", "redlock.client", "redlock.drift-factor", "redlock.nodes", "redlock.password",
			"redlock.restart-quarantine", "redlock.ssl.bundle", "redlock.username", "transaction.when-active",
			"watch-lock-order", "web.enabled", "web.status", "zookeeper.base-path", "zookeeper.when-suspended");

	/** Settings that belong to the client of a store, by the name that is tried here. */
	private static final Map<String, String> FOREIGN = Map.of("zookeeper.connectstring",
			"spring.cloud.zookeeper.connect-string", "zookeeper.sessiontimeout",
			"spring.cloud.zookeeper.session-timeout");

	/** The classes without which {@link FencingAutoConfiguration} is not applied. */
	private static final List<String> FENCING = List.of("org.springframework.jdbc.core.JdbcTemplate",
			"org.springframework.transaction.support.TransactionSynchronizationManager",
			"org.springframework.boot.jdbc.EmbeddedDatabaseConnection");

	private final Environment environment;

	private final @Nullable ClassLoader classes;

	SettingsCheck(Environment environment, @Nullable ClassLoader classes) {
		this.environment = environment;
		this.classes = classes;
	}

	/**
	 * Checks all settings, and logs a warning for each unknown property name.
	 * @throws LockConfigurationException if a duration has no unit or is too long
	 */
	void run() {
		DURATIONS.forEach((name) -> {
			requireUnit(PREFIX + "." + name);
			requireNoOverflow(PREFIX + "." + name);
		});
		Set<String> unread = new TreeSet<>();
		for (ConfigurationPropertySource source : ConfigurationPropertySources.get(this.environment)) {
			if (source instanceof IterableConfigurationPropertySource names) {
				names.stream().filter(SettingsCheck::isUnread).map(Object::toString).forEach(unread::add);
				if (!(source.getUnderlyingSource() instanceof SystemEnvironmentPropertySource)) {
					names.stream().filter(SettingsCheck::hasWrongPrefix).map(Object::toString).forEach(unread::add);
				}
			}
		}
		unread.forEach(SettingsCheck::warn);
		if (this.environment instanceof ConfigurableEnvironment configurable) {
			for (PropertySource<?> source : configurable.getPropertySources()) {
				if (source instanceof SystemEnvironmentPropertySource variables) {
					Stream.of(variables.getPropertyNames()).sorted().forEach(SettingsCheck::warnOfVariable);
				}
			}
		}
	}

	/**
	 * Warns of an environment variable that almost names a setting. Spring Boot reads
	 * underscores in place of dashes, but no other source shows such a variable under the
	 * prefix. Any other variable may be the value of a placeholder.
	 */
	private static void warnOfVariable(String name) {
		if (!name.startsWith(VARIABLES)) {
			return;
		}
		List<String> settings = known().map(SettingsCheck::variable).toList();
		boolean read = settings.stream().anyMatch((known) -> (name + "_").startsWith(known + "_"));
		String nearest = !read ? NearestName.of(name, settings) : null;
		if (nearest != null) {
			logger.warn("The environment variable '%s' is unknown and has no effect. Did you mean '%s'?".formatted(name,
					nearest));
		}
	}

	/** Returns the environment variable that sets a setting. */
	private static String variable(String name) {
		return (PREFIX + "." + name).toUpperCase(Locale.ROOT).replaceAll("[.-]", "_");
	}

	/**
	 * Rejects a number without a unit. Spring Boot would read it as milliseconds, which
	 * is rarely intended.
	 */
	private void requireUnit(String name) {
		String value = Binder.get(this.environment).bind(name, Bindable.of(String.class)).orElse("").strip();
		if (DurationText.lacksUnit(value)) {
			throw new LockConfigurationException("The property '%s' is '%s', which has no unit. Write '%ss' or '%sms'."
				.formatted(name, value, value, value));
		}
	}

	/**
	 * Checks the setting that asks for the fence. Without its classes, nothing else reads
	 * this setting.
	 * @throws LockConfigurationException if the fence cannot exist
	 */
	void requireFencingSupport() {
		boolean requested = Binder.get(this.environment).bind(PREFIX + ".fencing.enabled", Boolean.class).orElse(false);
		if (requested && !FENCING.stream().allMatch((name) -> ClassUtils.isPresent(name, this.classes))) {
			throw new LockConfigurationException(
					"The property 'distributed-lock.fencing.enabled' is 'true', but no transaction can be fenced, because Spring JDBC or transaction support is missing. Add 'spring-boot-starter-jdbc', or remove the property.");
		}
	}

	/** Each setting also has limits of its own. This one prevents overflow in sums. */
	private void requireNoOverflow(String name) {
		Duration value = Binder.get(this.environment).bind(name, Duration.class).orElse(Duration.ZERO);
		if (value.compareTo(LockRequest.MAX_DURATION) > 0) {
			throw new LockConfigurationException("The property '%s' is %s. Set it to %s at most.".formatted(name,
					DurationText.of(value), DurationText.of(LockRequest.MAX_DURATION)));
		}
	}

	private static boolean isUnread(ConfigurationPropertyName name) {
		if (ConfigurationPropertyName.of("holdfast").isAncestorOf(name)
				|| (!name.isEmpty() && isMisspelled(name.getElement(0, Form.UNIFORM)))) {
			return true;
		}
		return ConfigurationPropertyName.of(PREFIX).isAncestorOf(name) && !isKnown(name.subName(1));
	}

	/** Whether a name without its prefix is that of a setting, or below one. */
	private static boolean isKnown(ConfigurationPropertyName own) {
		return known().map(ConfigurationPropertyName::of)
			.anyMatch((known) -> known.equals(own) || known.isAncestorOf(own));
	}

	/**
	 * Whether a name is that of a setting under a wrong prefix of two elements. Another
	 * name under that prefix may belong to the application. In the environment, a
	 * variable that Spring Boot reads as a setting has such a name, too.
	 */
	private static boolean hasWrongPrefix(ConfigurationPropertyName name) {
		return name.getNumberOfElements() > 2 && WRONG_PREFIXES.contains(name.chop(2)) && isKnown(name.subName(2));
	}

	/**
	 * Whether the first element of a name almost equals the prefix, such as
	 * {@code distributed-locks}.
	 */
	private static boolean isMisspelled(String part) {
		return !part.equals(UNIFORM_PREFIX) && NearestName.of(part, List.of(UNIFORM_PREFIX)) != null;
	}

	private static void warn(String name) {
		int prefix = hasWrongPrefix(ConfigurationPropertyName.adapt(name, '.')) ? name.indexOf('.') : -1;
		String own = name.substring(name.indexOf('.', prefix + 1) + 1);
		String nearest = NearestName.of(own, known().toList());
		String meant = FOREIGN.getOrDefault(own.replace("-", "").toLowerCase(Locale.ROOT),
				(nearest != null) ? PREFIX + "." + nearest : null);
		logger.warn("The property '%s' is unknown and has no effect. %s".formatted(name, remedy(name, meant)));
	}

	private static String remedy(String name, @Nullable String meant) {
		if (meant != null) {
			return "Did you mean '%s'?".formatted(meant);
		}
		return name.startsWith(PREFIX + ".")
				? "Remove it, or see the list of properties: none of Holdfast has a similar name."
				: "The properties of Holdfast start with '%s.'.".formatted(PREFIX);
	}

	private static Stream<String> known() {
		return Stream.concat(DURATIONS.stream(), OTHERS.stream());
	}

}
