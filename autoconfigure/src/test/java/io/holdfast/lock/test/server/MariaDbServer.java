package io.holdfast.lock.test.server;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.List;

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

	private final Path executable = Executables.require("mariadbd", PACKAGE);

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
		int exitCode = run(List.of("mariadb-install-db", "--no-defaults", "--datadir=" + data(),
				"--auth-root-authentication-method=normal", "--skip-test-db", temporaryFiles(),
				"--user=" + System.getProperty("user.name")));
		if (exitCode != 0) {
			throw new IllegalStateException(
					"mariadb-install-db ended with exit code %d. Its output:%n%s".formatted(exitCode, logTail()));
		}
	}

	/** Newer versions have another default of the isolation, which tests set instead. */
	@Override
	protected List<String> command() {
		return List.of(this.executable.toString(), "--no-defaults", "--datadir=" + data(), "--port=" + port(),
				"--bind-address=" + HOST, "--socket=" + directory().resolve("mariadb.sock"),
				"--pid-file=" + directory().resolve("mariadb.pid"), "--init-file=" + init(), temporaryFiles(),
				"--innodb-flush-log-at-trx-commit=2", "--innodb-buffer-pool-size=32M",
				"--innodb-snapshot-isolation=OFF", "--skip-name-resolve", "--user=" + System.getProperty("user.name"));
	}

	@Override
	protected boolean isReady() {
		try (Connection connection = DriverManager.getConnection(jdbcUrl() + "?connectTimeout=2000&socketTimeout=2000",
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
