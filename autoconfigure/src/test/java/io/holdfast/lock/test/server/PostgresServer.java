package io.holdfast.lock.test.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * A real PostgreSQL server with an empty database, for tests. It accepts any password.
 *
 * <p>
 * It does not wait for the disk, because no test needs this durability: data survives the
 * kill of the server, but not a crash of the machine.
 */
public final class PostgresServer extends ServerProcess {

	/** The superuser. */
	public static final String USERNAME = "holdfast";

	private static final Path INSTALLATIONS = Path.of("/usr/lib/postgresql");

	private static final String SYSTEM_USER = "postgres";

	private final Path binaries;

	private final Path data;

	private PostgresServer() {
		super("postgres", MemoryDisk.directory());
		this.binaries = binaries();
		this.data = directory().resolve("data");
	}

	/**
	 * Starts a server with a new database cluster.
	 * @return the server, which the caller must close
	 */
	public static PostgresServer started() {
		return started((server) -> DataTemplate.fill("postgres-" + server.binaries.getParent().getFileName(),
				server.data, () -> server.runAsServerUser("initdb", "--username=" + USERNAME, "--auth=trust",
						"--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions"),
				server::run));
	}

	/**
	 * Starts a standby of another server, which answers reads. Replication is
	 * asynchronous, so the standby may lack data that the primary has confirmed.
	 * @param port the port of the primary, or of a proxy to it
	 * @return the server, which the caller must close
	 */
	public static PostgresServer standbyOf(int port) {
		return started((server) -> server.runAsServerUser("pg_basebackup", "--host=" + HOST, "--port=" + port,
				"--username=" + USERNAME, "--write-recovery-conf", "--checkpoint=fast", "--no-sync"));
	}

	private static PostgresServer started(Consumer<PostgresServer> creation) {
		PostgresServer server = new PostgresServer();
		try {
			server.giveDirectoryToServer();
			creation.accept(server);
			server.start();
			return server;
		}
		catch (RuntimeException ex) {
			server.close();
			throw ex;
		}
	}

	/**
	 * Promotes this standby to a primary, with the data it has received so far.
	 */
	public void promote() {
		runAsServerUser("pg_ctl", "promote", "--wait");
	}

	private void runAsServerUser(String binary, String... arguments) {
		List<String> command = asServerUser(binary, "--pgdata=" + this.data);
		command.addAll(List.of(arguments));
		int exitCode = run(command);
		if (exitCode != 0) {
			throw new IllegalStateException(
					"%s ended with exit code %d. Its output:%n%s".formatted(binary, exitCode, logTail()));
		}
	}

	@Override
	protected List<String> command() {
		return asServerUser("postgres", "-D", this.data.toString(), "-p", Integer.toString(port()), "-c",
				"listen_addresses=" + HOST, "-c", "unix_socket_directories=", "-c", "fsync=off", "-c",
				"full_page_writes=off", "-c", "max_connections=300", "-c", "shared_buffers=32MB");
	}

	@Override
	protected boolean isReady() {
		try (Connection connection = DriverManager.getConnection(jdbcUrl() + "&connectTimeout=2&socketTimeout=2")) {
			return !connection.isClosed();
		}
		catch (SQLException ex) {
			return false;
		}
	}

	/**
	 * Returns the JDBC URL of the database.
	 * @return the URL, including the user
	 */
	public String jdbcUrl() {
		return "jdbc:postgresql://" + HOST + ":" + port() + "/postgres?user=" + USERNAME;
	}

	/**
	 * Returns the command, run as the server's system user if the current user is root,
	 * because PostgreSQL refuses to run as root.
	 */
	private List<String> asServerUser(String binary, String... arguments) {
		List<String> command = new ArrayList<>();
		if (isRoot()) {
			command
				.addAll(List.of("setpriv", "--reuid=" + SYSTEM_USER, "--regid=" + SYSTEM_USER, "--init-groups", "--"));
		}
		command.add(this.binaries.resolve(binary).toString());
		command.addAll(List.of(arguments));
		return command;
	}

	private void giveDirectoryToServer() {
		if (!isRoot()) {
			return;
		}
		try {
			Files.setOwner(directory(),
					directory().getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName(SYSTEM_USER));
		}
		catch (IOException ex) {
			throw new UncheckedIOException("Cannot give " + directory() + " to the user " + SYSTEM_USER, ex);
		}
	}

	private static boolean isRoot() {
		return "root".equals(System.getProperty("user.name"));
	}

	private static Path binaries() {
		try {
			Optional<Path> onPath = Executables.find("initdb");
			if (onPath.isPresent()) {
				// it may be a link, without links to the other programs beside it
				return onPath.get().toRealPath().getParent();
			}
			try (Stream<Path> versions = Files.list(INSTALLATIONS)) {
				return versions.map((version) -> version.resolve("bin"))
					.filter((bin) -> Files.isExecutable(bin.resolve("initdb")))
					.max(Comparator.naturalOrder())
					.orElseThrow(() -> notInstalled("PostgreSQL", "postgresql"));
			}
		}
		catch (NoSuchFileException ex) {
			throw notInstalled("PostgreSQL", "postgresql");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
