package io.holdfast.verification.benchmark;

import java.time.Duration;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;

import org.springframework.dao.DuplicateKeyException;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;

/**
 * Locks of other libraries in a database, and the limit.
 */
public final class JdbcContenders {

	private static final int CONNECTIONS = 20;

	private static final Duration LEASE = Duration.ofSeconds(30);

	private JdbcContenders() {
	}

	private static JdbcTemplate database(String url, String... schema) {
		HikariConfig config = new HikariConfig();
		config.setJdbcUrl(url);
		config.setMaximumPoolSize(CONNECTIONS);
		// sixteen processes would otherwise exceed the limit of the server
		config.setMinimumIdle(1);
		JdbcTemplate jdbc = new JdbcTemplate(new HikariDataSource(config));
		for (String statement : schema) {
			jdbc.execute(statement);
		}
		return jdbc;
	}

	static Contender raw(String url) {
		JdbcTemplate jdbc = database(url, "CREATE TABLE IF NOT EXISTS raw_lock (name VARCHAR(100) PRIMARY KEY)");
		return new RawLimit(new RawLimit.Store() {

			@Override
			public boolean create(String key) {
				try {
					return jdbc.update("INSERT INTO raw_lock VALUES (?)", key) == 1;
				}
				catch (DuplicateKeyException ex) {
					return false;
				}
			}

			@Override
			public void delete(String key) {
				jdbc.update("DELETE FROM raw_lock WHERE name = ?", key);
			}

		});
	}

	static Contender shedLock(String url) {
		JdbcTemplate jdbc = database(url,
				"CREATE TABLE IF NOT EXISTS shedlock (name VARCHAR(64) PRIMARY KEY, lock_until TIMESTAMP NOT NULL, locked_at TIMESTAMP NOT NULL, locked_by VARCHAR(255) NOT NULL)");
		return new ShedLockContender(new JdbcTemplateLockProvider(jdbc), LEASE);
	}

	/**
	 * Returns the locks of Spring Integration.
	 * @param url the database
	 * @return its locks
	 */
	public static Contender springIntegration(String url) {
		JdbcTemplate jdbc = database(url,
				"CREATE TABLE IF NOT EXISTS int_lock (lock_key CHAR(36) NOT NULL, region VARCHAR(100) NOT NULL, client_id CHAR(36), created_date TIMESTAMP NOT NULL, expired_after TIMESTAMP NOT NULL, PRIMARY KEY (lock_key, region))");
		DefaultLockRepository repository = new DefaultLockRepository(jdbc.getDataSource());
		repository.setTransactionManager(new JdbcTransactionManager(jdbc.getDataSource()));
		repository.afterPropertiesSet();
		repository.afterSingletonsInstantiated();
		repository.start();
		JdbcLockRegistry registry = new JdbcLockRegistry(repository);
		return (key, section) -> Contender.locked(registry.obtain(key), section);
	}

}
