package io.holdfast.sample;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.util.UUID;

import javax.sql.DataSource;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.event.EventListener;
import org.springframework.core.env.Environment;
import org.springframework.stereotype.Component;

import io.holdfast.lock.LockException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;

/**
 * Logs the stores in use and some commands to try, when the service is ready.
 */
@Component
class StartReport {

	private static final Logger logger = LoggerFactory.getLogger(StartReport.class);

	private static final String REPORT = """


			The stock service is ready.
			  page       {url}/
			  locks in   {store}
			  stock in   {database}
			The page shows what a lock changes. Or try:
			  curl {url}/products/42
			  curl -X POST '{url}/products/42/orders?quantity=1'
			To lose updates, order without the lock. The stock drops by less than 20:
			  seq 20 | xargs -P 20 -I{} curl -s -o /dev/null -X POST '{url}/products/42/orders?quantity=1&thinkMillis=100&lock=none'
			Remove '&lock=none', and the stock drops by 20. To see the lock meters:
			  curl -s {url}/actuator/prometheus | grep distributed_lock
			""";

	private final LockOperations locks;

	private final DataSource dataSource;

	StartReport(LockOperations locks, DataSource dataSource) {
		this.locks = locks;
		this.dataSource = dataSource;
	}

	@EventListener
	void on(ApplicationReadyEvent event) throws SQLException {
		Environment environment = event.getApplicationContext().getEnvironment();
		String url = "http://localhost:" + environment.getProperty("local.server.port")
				+ environment.getProperty("server.servlet.context-path", "");
		logger.info(REPORT.replace("{store}", lockStore()).replace("{database}", database()).replace("{url}", url));
	}

	/**
	 * Returns the lock store, or why it is unavailable. Acquires a lock of its own, so
	 * that the store has responded before the report names it.
	 */
	private String lockStore() {
		try (LockHandle handle = this.locks.acquire(LockRequest.of("start", UUID.randomUUID()))) {
			return handle.backend();
		}
		catch (LockException ex) {
			return "an unavailable store: " + ex.getMessage();
		}
	}

	/** Returns the address without user and parameters, which may contain a password. */
	private String database() throws SQLException {
		try (Connection connection = this.dataSource.getConnection()) {
			DatabaseMetaData database = connection.getMetaData();
			return database.getDatabaseProductName() + " at "
					+ database.getURL().split("[?;]", 2)[0].replaceFirst("//[^/@]*@", "//");
		}
	}

}
