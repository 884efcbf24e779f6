package io.holdfast.lock.test.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.util.FileSystemUtils;

/**
 * One server of a test, run as a process of this machine: it can be started, stopped,
 * killed, paused and started again on the same port and data.
 *
 * <p>
 * It ends with {@link #close()}, or with this JVM. Every failure to start carries the end
 * of the server's log. Not thread-safe.
 */
public abstract class ServerProcess implements AutoCloseable {

	/** The address on which every server listens. */
	public static final String HOST = "127.0.0.1";

	private static final Duration START_TIMEOUT = Duration.ofSeconds(60);

	private static final Duration STOP_TIMEOUT = Duration.ofSeconds(20);

	private static final int LOG_TAIL = 40;

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
	 * Reserve a port and a directory; nothing runs yet.
	 * @param name what it is, for messages, such as {@code postgres}
	 */
	protected ServerProcess(String name) {
		this.name = name;
		this.port = freePort();
		try {
			this.directory = Files.createTempDirectory("holdfast-" + name + "-");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * The command that runs the server in the foreground, as the process itself and not
	 * as a child of a shell: signals go to what is started here.
	 * @return the command and its arguments
	 */
	protected abstract List<String> command();

	/**
	 * Ask once whether the server accepts work.
	 * @return whether it does
	 * @throws IOException if it could not be asked; counts as {@code false}
	 */
	protected abstract boolean isReady() throws IOException;

	/**
	 * Start the server and wait until it accepts work. Does nothing if it runs.
	 */
	public void start() {
		if (isRunning()) {
			return;
		}
		try {
			ProcessBuilder builder = logging(command());
			if (this.clock != null) {
				builder.environment().putAll(this.clock.environment());
			}
			this.process = builder.start();
		}
		catch (IOException ex) {
			throw new UncheckedIOException("Cannot run " + command().get(0) + " for " + this.name, ex);
		}
		RUNNING.add(this);
		awaitReady(this.process);
	}

	private void awaitReady(Process started) {
		long deadline = System.nanoTime() + START_TIMEOUT.toNanos();
		while (!answers()) {
			if (awaitExit(started, Duration.ofMillis(25))) {
				RUNNING.remove(this);
				throw new IllegalStateException("%s ended at its start with exit code %d. The end of its log:%n%s"
					.formatted(this.name, started.exitValue(), logTail()));
			}
			if (System.nanoTime() - deadline > 0) {
				kill();
				throw new IllegalStateException("%s did not accept work on port %d within %s. The end of its log:%n%s"
					.formatted(this.name, this.port, START_TIMEOUT, logTail()));
			}
		}
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
	 * Ask the server to end and wait for it; kill it if it does not. Its data stay.
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
	 * Kill the server and its children at once, as by {@code kill -9}, and wait until
	 * they are gone. Its data stay.
	 */
	public void kill() {
		Process running = this.process;
		if (running == null) {
			return;
		}
		List<ProcessHandle> all = family(running);
		all.forEach(ProcessHandle::destroyForcibly);
		all.forEach((member) -> member.onExit().orTimeout(10, TimeUnit.SECONDS).join());
		RUNNING.remove(this);
	}

	/**
	 * Stop and start on the same port and data.
	 */
	public void restart() {
		stop();
		start();
	}

	/**
	 * Freeze the server and its children with SIGSTOP: its connections stay open and
	 * nothing answers.
	 */
	public void pause() {
		signal("STOP");
	}

	/**
	 * Let a paused server go on. Does nothing if it is not paused.
	 */
	public void resume() {
		signal("CONT");
	}

	/**
	 * Send a signal to the server and its children.
	 * @param signal the signal without its prefix, such as {@code STOP}
	 */
	public void signal(String signal) {
		Process running = this.process;
		if (running == null || !running.isAlive()) {
			return;
		}
		// the server first: once it is stopped, it makes no further children
		send(signal, running.toHandle());
		running.descendants().forEach((child) -> send(signal, child));
	}

	private void send(String signal, ProcessHandle process) {
		run(List.of("kill", "-" + signal, Long.toString(process.pid())));
	}

	private static List<ProcessHandle> family(Process process) {
		return Stream.concat(Stream.of(process.toHandle()), process.descendants()).toList();
	}

	/**
	 * Give the server a wall clock of its own, with which it runs from its next start on.
	 */
	public void ownWallClock() {
		this.clock = WallClock.createIn(this.directory, this::run);
	}

	/**
	 * Move the wall clock of a server that has one of its own.
	 * @param fromNow how far it is ahead of the clock of this machine, or behind it if
	 * negative; in whole seconds
	 */
	public void moveWallClock(Duration fromNow) {
		if (this.clock == null) {
			throw new IllegalStateException(this.name + " has no wall clock of its own");
		}
		this.clock.move(fromNow);
	}

	/**
	 * Whether the process lives, be it paused or not.
	 * @return whether it lives
	 */
	public boolean isRunning() {
		return this.process != null && this.process.isAlive();
	}

	/**
	 * The port of the server; the same after a restart.
	 * @return the port
	 */
	public int port() {
		return this.port;
	}

	/**
	 * The directory of this server; deleted by {@link #close()}.
	 * @return the directory
	 */
	public Path directory() {
		return this.directory;
	}

	/**
	 * The last lines of what the server wrote.
	 * @return the lines, or a remark that there are none
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
		FileSystemUtils.deleteRecursively(this.directory.toFile());
	}

	/**
	 * Run a helper program of the server to its end.
	 * @param command the program and its arguments
	 * @return its exit code
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
	 * A loopback port that is free now, and that no other JVM with these tests gets while
	 * this one lives.
	 * @return the port
	 * @see Ports
	 */
	public static int freePort() {
		return Ports.next();
	}

	/**
	 * A message for a server that is not installed.
	 * @param what what is missing, such as a binary
	 * @param debianPackage the Debian package that has it
	 * @return the exception to throw
	 */
	protected static IllegalStateException notInstalled(String what, String debianPackage) {
		return new IllegalStateException(
				"%s is not installed, and this test needs a real server. Install it: apt-get install --no-install-recommends %s"
					.formatted(what, debianPackage));
	}

}
