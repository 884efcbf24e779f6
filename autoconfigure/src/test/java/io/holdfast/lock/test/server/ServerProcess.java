package io.holdfast.lock.test.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.util.FileSystemUtils;

/**
 * A server for tests that runs as a process on this machine. It can be stopped, killed,
 * paused, and restarted on the same port with the same data.
 *
 * <p>
 * The process ends with {@link #close()} or with this JVM. If a server does not start,
 * the exception contains the end of its log. Not thread-safe.
 */
public abstract class ServerProcess implements AutoCloseable {

	/** The address on which every server listens. */
	public static final String HOST = "127.0.0.1";

	private static final Duration START_TIMEOUT = Duration.ofMinutes(2);

	private static final Duration STOP_TIMEOUT = Duration.ofSeconds(20);

	private static final int MOST_STARTS = 3;

	private static final int LOG_TAIL = 40;

	/** Keeps the logs of servers that are closed. */
	private static final Path LOGS = Path.of("target", "server-logs");

	private static final Set<ServerProcess> RUNNING = ConcurrentHashMap.newKeySet();

	static {
		Runtime.getRuntime().addShutdownHook(new Thread(() -> RUNNING.forEach(ServerProcess::close), "server-closer"));
	}

	private final String name;

	private final int port;

	private final Path directory;

	private @Nullable WallClock clock;

	private @Nullable Process process;

	/**
	 * Reserves a port and creates a directory, without starting the server.
	 * @param name the name of the server in messages, such as {@code postgres}
	 */
	protected ServerProcess(String name) {
		this(name, Path.of(System.getProperty("java.io.tmpdir")));
	}

	/**
	 * Reserves a port and creates a directory, without starting the server.
	 * @param name the name of the server in messages, such as {@code postgres}
	 * @param parent the directory in which to create that of the server
	 */
	protected ServerProcess(String name, Path parent) {
		this.name = name;
		this.port = freePort();
		try {
			this.directory = Files.createTempDirectory(parent, "holdfast-" + name + "-");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Returns the command that runs the server in the foreground. The command must be the
	 * server itself rather than a shell with a child process, because signals are sent to
	 * the started process.
	 * @return the command and its arguments
	 */
	protected abstract List<String> command();

	/**
	 * Checks once whether the server accepts requests.
	 * @return whether it accepts requests
	 * @throws IOException if the check fails; treated as {@code false}
	 */
	protected abstract boolean isReady() throws IOException;

	/**
	 * Starts the server and waits until it accepts requests. Does nothing if it is
	 * running. Repeats the start if the server ends, because a busy system may not have
	 * released its ports yet.
	 */
	public void start() {
		if (isRunning()) {
			return;
		}
		RUNNING.add(this);
		for (int attempt = 1; !becomesReady(launch()); attempt++) {
			if (attempt == MOST_STARTS) {
				RUNNING.remove(this);
				throw new IllegalStateException("%s ended at its start with exit code %d. The end of its log:%n%s"
					.formatted(this.name, Objects.requireNonNull(this.process).exitValue(), logTail()));
			}
		}
	}

	private Process launch() {
		try {
			ProcessBuilder builder = logging(command());
			if (this.clock != null) {
				builder.environment().putAll(this.clock.environment());
			}
			Process started = builder.start();
			this.process = started;
			return started;
		}
		catch (IOException ex) {
			throw new UncheckedIOException("Cannot run " + command().get(0) + " for " + this.name, ex);
		}
	}

	/**
	 * Starts several servers at once, each on a thread of its own: no member of a cluster
	 * becomes ready without a quorum.
	 * @param servers the servers
	 */
	public static void startAll(List<? extends ServerProcess> servers) {
		CompletableFuture<?>[] starts = servers.stream()
			.map((server) -> CompletableFuture.runAsync(server::start, (start) -> new Thread(start).start()))
			.toArray(CompletableFuture[]::new);
		CompletableFuture.allOf(starts).join();
	}

	/** Returns {@code false} if the server ends before it accepts requests. */
	private boolean becomesReady(Process started) {
		long deadline = System.nanoTime() + START_TIMEOUT.toNanos();
		while (!answers()) {
			if (awaitExit(started, Duration.ofMillis(25))) {
				return false;
			}
			if (System.nanoTime() - deadline > 0) {
				kill();
				throw new IllegalStateException("%s did not accept work on port %d within %s. The end of its log:%n%s"
					.formatted(this.name, this.port, START_TIMEOUT, logTail()));
			}
		}
		return true;
	}

	private boolean answers() {
		try {
			return isReady();
		}
		catch (IOException ex) {
			return false;
		}
	}

	/**
	 * Stops the server gracefully, and kills it after a timeout. Keeps its data.
	 */
	public void stop() {
		Process running = this.process;
		if (running == null) {
			return;
		}
		resume();
		running.destroy();
		if (!awaitExit(running, STOP_TIMEOUT)) {
			kill();
		}
		RUNNING.remove(this);
	}

	/**
	 * Kills the server and its children immediately, as {@code kill -9} does, and waits
	 * until they have ended. Keeps the data.
	 */
	public void kill() {
		Process running = this.process;
		if (running == null) {
			return;
		}
		List<ProcessHandle> all = family(running);
		all.forEach(ProcessHandle::destroyForcibly);
		all.forEach((member) -> member.onExit().orTimeout(10, TimeUnit.SECONDS).join());
		// its handle knows of the end first, and start() would still take it for running
		awaitExit(running, STOP_TIMEOUT);
		RUNNING.remove(this);
	}

	/**
	 * Stops the server and starts it again on the same port with the same data.
	 */
	public void restart() {
		stop();
		start();
	}

	/**
	 * Suspends the server and its children with SIGSTOP. Connections stay open, but the
	 * server does not respond.
	 */
	public void pause() {
		Process running = this.process;
		if (running != null && running.isAlive()) {
			// until it has stopped, it may create a child that is not among these
			pause(running.toHandle());
			running.descendants().forEach(this::pause);
		}
	}

	/** A busy machine delivers the signal late, and threads would answer until then. */
	private void pause(ProcessHandle process) {
		send("STOP", process);
		PausedProcess.await(process, STOP_TIMEOUT);
	}

	/**
	 * Resumes a paused server. Does nothing if it is not paused.
	 */
	public void resume() {
		Process running = this.process;
		if (running != null && running.isAlive()) {
			family(running).forEach((member) -> send("CONT", member));
		}
	}

	private void send(String signal, ProcessHandle process) {
		run(List.of("kill", "-" + signal, Long.toString(process.pid())));
	}

	private static List<ProcessHandle> family(Process process) {
		return Stream.concat(Stream.of(process.toHandle()), process.descendants()).toList();
	}

	/**
	 * Gives the server its own wall clock, which takes effect at the next start.
	 */
	public void ownWallClock() {
		this.clock = WallClock.createIn(this.directory, this::run);
	}

	/**
	 * Moves the wall clock of a server that has its own.
	 * @param fromNow the offset from the clock of this machine, negative for the past;
	 * only whole seconds count
	 */
	public void moveWallClock(Duration fromNow) {
		if (this.clock == null) {
			throw new IllegalStateException(this.name + " has no wall clock of its own");
		}
		this.clock.move(fromNow);
	}

	/**
	 * Whether the process is alive, paused or not.
	 * @return whether it is alive
	 */
	public boolean isRunning() {
		return this.process != null && this.process.isAlive();
	}

	/**
	 * Returns the port of the server, which is the same after a restart.
	 * @return the port
	 */
	public int port() {
		return this.port;
	}

	/**
	 * Returns the directory of this server. {@link #close()} deletes it, except the log,
	 * which it moves to {@code target/server-logs}.
	 * @return the directory
	 */
	public Path directory() {
		return this.directory;
	}

	/**
	 * Returns the last lines of the server's log.
	 * @return the lines, or a remark that there is no readable log
	 */
	public String logTail() {
		if (!Files.isReadable(logFile())) {
			return "(no log)";
		}
		try (Stream<String> lines = Files.lines(logFile())) {
			List<String> all = lines.toList();
			return String.join(System.lineSeparator(), all.subList(Math.max(0, all.size() - LOG_TAIL), all.size()));
		}
		catch (IOException | UncheckedIOException ex) {
			return "(unreadable log: " + ex.getMessage() + ")";
		}
	}

	private Path logFile() {
		return this.directory.resolve("server.log");
	}

	@Override
	public void close() {
		kill();
		keepLog();
		FileSystemUtils.deleteRecursively(this.directory.toFile());
	}

	/** A test may fail because of its server, which is closed by then. */
	private void keepLog() {
		if (Files.isReadable(logFile())) {
			try {
				Files.createDirectories(LOGS);
				Files.move(logFile(), LOGS.resolve("%s-%d.log".formatted(this.name, this.port)),
						StandardCopyOption.REPLACE_EXISTING);
			}
			catch (IOException ex) {
				throw new UncheckedIOException("Cannot keep the log of " + this.name, ex);
			}
		}
	}

	/**
	 * Runs a helper program of the server and waits until it ends.
	 * @param command the program and its arguments
	 * @return the exit code
	 */
	protected final int run(List<String> command) {
		try {
			Process helper = logging(command).start();
			if (!awaitExit(helper, START_TIMEOUT)) {
				helper.destroyForcibly();
				throw new IllegalStateException("'%s' did not end within %s. The end of its log:%n%s"
					.formatted(String.join(" ", command), START_TIMEOUT, logTail()));
			}
			return helper.exitValue();
		}
		catch (IOException ex) {
			throw new UncheckedIOException("Cannot run " + command.get(0), ex);
		}
	}

	private ProcessBuilder logging(List<String> command) {
		return new ProcessBuilder(command).directory(this.directory.toFile())
			.redirectErrorStream(true)
			.redirectOutput(ProcessBuilder.Redirect.appendTo(logFile().toFile()));
	}

	private static boolean awaitExit(Process process, Duration timeout) {
		try {
			return process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("Interrupted while waiting for a server", ex);
		}
	}

	/**
	 * Reserves a free loopback port. No other JVM that runs these tests gets this port
	 * while this JVM is alive.
	 * @return the port
	 * @see Ports
	 */
	public static int freePort() {
		return Ports.next();
	}

	/**
	 * Creates the exception for a server that is not installed.
	 * @param what the missing item, such as a binary
	 * @param debianPackage the Debian package that contains it
	 * @return the exception to throw
	 */
	protected static IllegalStateException notInstalled(String what, String debianPackage) {
		return new IllegalStateException(
				"%s is not installed, and this test needs a real server. Install it: apt-get install --no-install-recommends %s"
					.formatted(what, debianPackage));
	}

}
