package io.holdfast.lock.autoconfigure;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.core.env.Environment;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.support.DurationText;

/**
 * Decides which stores are checked at startup. A store that may be the default is checked
 * when its backend is created. A store configured beside a named default is checked at
 * the end of the startup, and only if an annotated method names it. Its server may be
 * absent in tests that name the local store, or if the application uses it for other
 * purposes. Without {@code fail-fast} no store is checked.
 */
final class StartupChecks {

	private static final Log logger = LogFactory.getLog(StartupChecks.class);

	private final Environment environment;

	private final DistributedLockProperties locks;

	private final Map<String, Runnable> deferred = new ConcurrentHashMap<>();

	StartupChecks(Environment environment, DistributedLockProperties locks) {
		if (locks.startupTimeout().isNegative()) {
			throw new LockConfigurationException(
					"The property 'distributed-lock.startup-timeout' is %s. Set zero or more. Zero makes one attempt."
						.formatted(DurationText.of(locks.startupTimeout())));
		}
		this.environment = environment;
		this.locks = locks;
	}

	/**
	 * Creates a check.
	 * @param store the store
	 * @param where the store and its location, as messages name it
	 * @param remedies the remedies if the store is unavailable, each a sentence
	 */
	StartupCheck of(LockStore store, String where, String... remedies) {
		List<String> all = new ArrayList<>(List.of(remedies));
		all.add(mayBeDefault(store)
				? "Set 'distributed-lock.backend' to the store that keeps the locks, or to 'local' if there is only one instance of this application."
				: "Set another backend on the methods that have @DistributedLock(backend = \"%s\")."
					.formatted(store.id()));
		all.add("Increase 'distributed-lock.startup-timeout' if the store needs longer to start.");
		all.add("Set 'distributed-lock.fail-fast=false' to start without it. Locks fail until it is available.");
		return StartupCheck.of(where, this.locks.startupTimeout(), all);
	}

	/** Whether locks that name no store may be in this one. */
	boolean mayBeDefault(LockStore store) {
		String named = LockStore.named(this.environment);
		return named == null || named.equals(store.id());
	}

	/**
	 * Runs a check now, defers it to the end of the startup, or skips it.
	 * @param store the store
	 * @param check runs the check, and receives the action that releases the store's
	 * client if the check fails
	 * @param close releases the store's client
	 * @return whether the check has run
	 * @throws StoreUnavailableException if the check has run and failed
	 */
	boolean run(LockStore store, Check check, Runnable close) {
		if (!this.locks.failFast()) {
			// a database is prepared in any case, which reports a failure
			if (store != LockStore.JDBC) {
				logger.info(
						"The store '%s' is not checked at startup, because 'distributed-lock.fail-fast' is 'false'. Locks fail while it is unavailable."
							.formatted(store.id()));
			}
			return false;
		}
		if (mayBeDefault(store)) {
			check.run(close);
			return true;
		}
		// by then the backend is a bean, so the application context closes it
		this.deferred.put(store.id(), () -> check.run(() -> {
		}));
		return false;
	}

	/**
	 * Runs the deferred check of a store that an annotated method names, unless it has
	 * already run.
	 * @param backend the name of the backend as the annotation has it
	 * @throws StoreUnavailableException if the check fails
	 */
	void require(String backend) {
		String name = LockStore.normalized(backend);
		Runnable check = (name != null) ? this.deferred.remove(name) : null;
		if (check != null) {
			check.run();
		}
	}

	/**
	 * Check of a store.
	 */
	@FunctionalInterface
	interface Check {

		void run(Runnable close);

	}

}
