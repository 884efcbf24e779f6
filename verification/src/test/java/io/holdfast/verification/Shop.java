package io.holdfast.verification;

import java.util.ArrayList;
import java.util.List;

import io.holdfast.lock.test.server.PostgresServer;

/**
 * Two processes of the sample application on one PostgreSQL, with their locks in one
 * store.
 */
final class Shop implements AutoCloseable {

	private static final int PROCESSES = 2;

	private final PostgresServer database;

	private final List<SampleProcess> processes;

	/**
	 * Starts the processes.
	 * @param store the profile of the store
	 * @param settings the location of the store, as arguments of the sample application
	 */
	Shop(PostgresServer database, String store, String... settings) {
		this.database = database;
		List<String> arguments = new ArrayList<>(
				List.of("--spring.profiles.active=postgres," + store, "--spring.datasource.url=" + database.jdbcUrl(),
						"--spring.datasource.username=" + PostgresServer.USERNAME, "--spring.datasource.password=",
						"--distributed-lock.wait-time=50s"));
		arguments.addAll(List.of(settings));
		this.processes = SampleProcess.start(PROCESSES, arguments);
	}

	/** Places orders for a new product. */
	Sale sell(int orders, String lock) throws Exception {
		return Sale.of(this.database, this.processes, orders, lock);
	}

	@Override
	public void close() {
		this.processes.forEach(SampleProcess::close);
	}

}
