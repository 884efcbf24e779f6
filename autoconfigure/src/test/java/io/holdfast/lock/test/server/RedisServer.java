package io.holdfast.lock.test.server;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * A real Redis server for tests. It does not persist its data, so a restart loses all
 * data.
 */
public final class RedisServer extends ServerProcess {

	private static final String SERVER = "redis-server";

	private static final String CLIENT = "redis-cli";

	private static final Pattern KEY = Pattern.compile("^ *\\d+\\) \"(.*)\"$", Pattern.MULTILINE);

	private final List<String> settings;

	private final @Nullable TestCertificate certificate;

	private final boolean sentinel;

	private @Nullable String password;

	private RedisServer(boolean tls, boolean sentinel, String... settings) {
		super(sentinel ? "redis-sentinel" : "redis");
		this.settings = List.of(settings);
		this.sentinel = sentinel;
		this.certificate = tls ? TestCertificate.createIn(directory()) : null;
		for (String setting : settings) {
			if (setting.startsWith("requirepass ")) {
				this.password = setting.substring("requirepass ".length());
			}
		}
	}

	/**
	 * Starts a server.
	 * @param settings lines for the configuration file in addition to port and directory,
	 * such as {@code requirepass secret}
	 * @return the server, which the caller must close
	 */
	public static RedisServer started(String... settings) {
		return startOrClose(new RedisServer(false, false, settings));
	}

	/**
	 * Starts a server that accepts TLS connections only.
	 * @param settings lines for the configuration file
	 * @return the server, which the caller must close
	 */
	public static RedisServer startedWithTls(String... settings) {
		return startOrClose(new RedisServer(true, false, settings));
	}

	/**
	 * Starts a sentinel.
	 * @param settings lines for the configuration file
	 * @return the sentinel, which the caller must close
	 */
	static RedisServer startedAsSentinel(String... settings) {
		return startOrClose(new RedisServer(false, true, settings));
	}

	private static RedisServer startOrClose(RedisServer server) {
		try {
			server.start();
			return server;
		}
		catch (RuntimeException ex) {
			server.close();
			throw ex;
		}
	}

	/**
	 * Starts a replica of this server and waits until it is online.
	 * @param settings lines for the configuration file
	 * @return the replica, which the caller must close
	 */
	public RedisServer startReplica(String... settings) {
		List<String> all = new ArrayList<>(List.of(settings));
		all.add("replicaof " + HOST + " " + port());
		RedisServer replica = started(all.toArray(String[]::new));
		replica.awaitOutput("master_link_status:up", "info", "replication");
		awaitOutput("port=" + replica.port() + ",state=online", "info", "replication");
		return replica;
	}

	@Override
	protected List<String> command() {
		List<String> lines = new ArrayList<>(List.of("bind " + HOST, "dir " + directory()));
		if (this.certificate != null) {
			lines.addAll(List.of("port 0", "tls-port " + port(), "tls-cert-file " + this.certificate.certificate(),
					"tls-key-file " + this.certificate.key(), "tls-ca-cert-file " + this.certificate.certificate(),
					"tls-auth-clients no"));
		}
		else {
			lines.add("port " + port());
		}
		if (!this.sentinel) {
			lines.addAll(List.of("save \"\"", "appendonly no", "repl-diskless-sync no"));
		}
		lines.addAll(this.settings);
		Path file = directory().resolve("redis.conf");
		try {
			// a sentinel keeps its state in this file, so never overwrite it
			if (!this.sentinel || !Files.exists(file)) {
				Files.write(file, lines);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		List<String> command = new ArrayList<>(List.of(binary(SERVER, "redis-server"), file.toString()));
		if (this.sentinel) {
			command.add("--sentinel");
		}
		return command;
	}

	@Override
	protected boolean isReady() {
		return ask("ping").contains("PONG");
	}

	/**
	 * Runs one command with {@code redis-cli}.
	 * @param words the command and its arguments
	 * @return the response of the server, as text
	 */
	public String ask(String... words) {
		try {
			Process client = client(words).start();
			String output = new String(client.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
			client.waitFor(30, TimeUnit.SECONDS);
			return output.strip();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("Interrupted while asking Redis", ex);
		}
	}

	private ProcessBuilder client(String... words) {
		List<String> command = new ArrayList<>(
				List.of("timeout", "30", binary(CLIENT, "redis-tools"), "-h", HOST, "-p", Integer.toString(port())));
		if (this.certificate != null) {
			command.addAll(List.of("--tls", "--cacert", this.certificate.certificate().toString()));
		}
		command.addAll(List.of(words));
		ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
		if (this.password != null) {
			builder.environment().put("REDISCLI_AUTH", this.password);
		}
		return builder;
	}

	/**
	 * Returns the keys that match a pattern.
	 * @param pattern the pattern, such as {@code *}
	 * @return the keys, with non-ASCII and non-printable characters escaped
	 */
	public List<String> keys(String pattern) {
		return KEY.matcher(ask("--no-raw", "keys", pattern)).results().map((line) -> line.group(1)).toList();
	}

	/**
	 * Records all commands that the server executes during an action, including those in
	 * scripts, which the server's statistics do not count.
	 * @param action the action
	 * @return one line for each command, in the format of {@code monitor}
	 * @throws Exception if the action fails
	 */
	public List<String> watched(Callable<?> action) throws Exception {
		Process monitor = client("monitor").start();
		try (BufferedReader output = monitor.inputReader()) {
			output.readLine();
			action.call();
			String end = "end-" + UUID.randomUUID();
			ask("echo", end);
			List<String> lines = new ArrayList<>();
			for (String line = output.readLine(); line != null && !line.contains(end); line = output.readLine()) {
				lines.add(line);
			}
			return lines;
		}
		finally {
			monitor.destroy();
		}
	}

	/**
	 * Repeats a command until its output contains a text, for at most 30 seconds.
	 * @param text the text
	 * @param words the command and its arguments
	 */
	void awaitOutput(String text, String... words) {
		awaitOutput(text, 30, words);
	}

	/**
	 * Repeats a command until its output contains a text.
	 * @param text the text
	 * @param seconds the timeout in seconds
	 * @param words the command and its arguments
	 */
	void awaitOutput(String text, int seconds, String... words) {
		long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
		String output = ask(words);
		while (!output.contains(text)) {
			if (System.nanoTime() - deadline > 0) {
				throw new IllegalStateException("%s on port %d did not come to say '%s' but says:%n%s"
					.formatted(String.join(" ", words), port(), text, output));
			}
			output = ask(words);
		}
	}

	/**
	 * Returns the address, without credentials.
	 * @return the address, such as {@code redis://127.0.0.1:12345}
	 */
	public String address() {
		return ((this.certificate != null) ? "rediss://" : "redis://") + HOST + ":" + port();
	}

	/**
	 * Returns the certificate that clients of a TLS server must trust.
	 * @return the PEM file
	 */
	public Path certificate() {
		if (this.certificate == null) {
			throw new IllegalStateException("This server has no certificate: it was started without TLS");
		}
		return this.certificate.certificate();
	}

	private static String binary(String name, String debianPackage) {
		return Stream.of(System.getenv("PATH").split(":"))
			.map((directory) -> Path.of(directory, name))
			.filter(Files::isExecutable)
			.findFirst()
			.orElseThrow(() -> notInstalled(name, debianPackage))
			.toString();
	}

}
