package io.holdfast.lock.test.server;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.List;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * A real MariaDB server with an empty database {@value #DATABASE}, for tests.
 *
 * <p>
 * It does not wait for the disk, because no test needs this durability: data survives the
 * kill of the server, but not a crash of the machine.
 */
public final class MariaDbServer extends ServerProcess {

	/** The user with all privileges on the database. */
	public static final String USERNAME = "holdfast";

	/** The password of {@link #USERNAME}. */
	public static final String PASSWORD = "holdfast";

	private static final String DATABASE = "holdfast";

	private static final String PACKAGE = "mariadb-server";

	/** The server of MySQL that tests for its driver use instead, if there is one. */
	private static final @Nullable String MYSQL = System.getProperty("test.mysqld");

	private final Path executable = (MYSQL != null) ? Path.of(MYSQL) : Executables.require("mariadbd", PACKAGE);

	private MariaDbServer() {
		super("mariadb");
	}

	/**
	 * Starts a server with a new data directory.
	 * @return the server, which the caller must close
	 */
	public static MariaDbServer started() {
		MariaDbServer server = new MariaDbServer();
		try {
			server.initialize();
			server.start();
			return server;
		}
		catch (RuntimeException | IOException ex) {
			server.close();
			throw new IllegalStateException("MariaDB did not start", ex);
		}
	}

	private void initialize() throws IOException {
		DataTemplate.fill("mariadb" + this.executable.toString().replace('/', '-'), data(), this::createData,
				this::run);
		Files.writeString(init(), """
				CREATE DATABASE IF NOT EXISTS %1$s CHARACTER SET utf8mb4;
				CREATE USER IF NOT EXISTS '%2$s'@'%%' IDENTIFIED BY '%3$s';
				GRANT ALL ON %1$s.* TO '%2$s'@'%%';
				""".formatted(DATABASE, USERNAME, PASSWORD));
	}

	private void createData() {
		List<String> command = (MYSQL != null)
				? List.of(MYSQL, "--no-defaults", "--initialize-insecure", "--secure-file-priv=NULL")
				: List.of("mariadb-install-db", "--no-defaults", "--auth-root-authentication-method=normal",
						"--skip-test-db");
		int exitCode = run(
				Stream
					.concat(command.stream(),
							Stream.of("--datadir=" + data(), temporaryFiles(),
									"--user=" + System.getProperty("user.name")))
					.toList());
		if (exitCode != 0) {
			throw new IllegalStateException(
					"%s ended with exit code %d. Its output:%n%s".formatted(command.get(0), exitCode, logTail()));
		}
	}

	/**
	 * Newer versions have another default of the isolation, which tests set instead.
	 * MySQL does not know this option. Its tests create triggers, which needs more rights
	 * if there is a binary log.
	 */
	@Override
	protected List<String> command() {
		return List.of(this.executable.toString(), "--no-defaults", "--datadir=" + data(), "--port=" + port(),
				"--bind-address=" + HOST, "--socket=" + directory().resolve("mariadb.sock"),
				"--pid-file=" + directory().resolve("mariadb.pid"), "--init-file=" + init(), temporaryFiles(),
				"--innodb-flush-log-at-trx-commit=2", "--innodb-buffer-pool-size=32M",
				"--loose-innodb-snapshot-isolation=OFF", "--loose-mysqlx=OFF", "--skip-log-bin",
				"--secure-file-priv=" + ((MYSQL != null) ? "NULL" : ""), "--skip-name-resolve",
				"--user=" + System.getProperty("user.name"));
	}

	@Override
	protected boolean isReady() {
		try (Connection connection = DriverManager.getConnection(mySqlUrl() + "?connectTimeout=2000&socketTimeout=2000",
				USERNAME, PASSWORD)) {
			return !connection.isClosed();
		}
		catch (SQLException ex) {
			return false;
		}
	}

	private Path data() {
		return directory().resolve("data");
	}

	/**
	 * Uses a separate directory, because each server deletes the temporary files that it
	 * finds at startup.
	 */
	private String temporaryFiles() {
		return "--tmpdir=" + directory();
	}

	private Path init() {
		return directory().resolve("init.sql");
	}

	/**
	 * Returns the JDBC URL of the database.
	 * @return the URL
	 */
	public String jdbcUrl() {
		return jdbcUrl(port());
	}

	/**
	 * Returns the JDBC URL of the database on another port, such as that of a proxy.
	 * @param port the port
	 * @return the URL
	 */
	public String jdbcUrl(int port) {
		return "jdbc:mariadb://%s:%d/%s".formatted(HOST, port, DATABASE);
	}

	/**
	 * Returns the URL of the database for the driver of MySQL, which takes MariaDB for a
	 * MySQL.
	 * @return the URL
	 */
	public String mySqlUrl() {
		return mySqlUrl(port());
	}

	/**
	 * Returns the URL for the driver of MySQL on another port, such as that of a proxy.
	 * @param port the port
	 * @return the URL
	 */
	public String mySqlUrl(int port) {
		return "jdbc:mysql://%s:%d/%s".formatted(HOST, port, DATABASE);
	}

}
