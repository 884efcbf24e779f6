package io.holdfast.lock.test.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.ClientSetInfoConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.util.SafeEncoder;

/**
 * A real Redis server for tests. It does not persist its data, so a restart loses all
 * data.
 */
public final class RedisServer extends ServerProcess {

	private static final String SERVER = "redis-server";

	private static final int TIMEOUT_MILLIS = 30_000;

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
		List<String> command = new ArrayList<>(
				List.of(Executables.require(SERVER, SERVER).toString(), file.toString()));
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
	 * Sends one command on a connection of its own.
	 * @param words the command and its arguments
	 * @return the response of the server as text, with one line for each element of an
	 * array. If there is none, the error as text
	 */
	public String ask(String... words) {
		try (Jedis connection = connect()) {
			return text(send(connection, words));
		}
		catch (JedisException ex) {
			return String.valueOf(ex.getMessage());
		}
	}

	private Jedis connect() {
		DefaultJedisClientConfig.Builder config = DefaultJedisClientConfig.builder()
			.connectionTimeoutMillis(TIMEOUT_MILLIS)
			.socketTimeoutMillis(TIMEOUT_MILLIS)
			.clientSetInfoConfig(ClientSetInfoConfig.DISABLED)
			.password(this.password);
		if (this.certificate != null) {
			config.ssl(true).sslSocketFactory(this.certificate.trusted().getSocketFactory());
		}
		return new Jedis(new HostAndPort(HOST, port()), config.build());
	}

	private static @Nullable Object send(Jedis connection, String... words) {
		return connection.sendCommand(() -> SafeEncoder.encode(words[0]), Arrays.copyOfRange(words, 1, words.length));
	}

	private static String text(@Nullable Object response) {
		if (response instanceof List<?> elements) {
			return elements.stream().map(RedisServer::text).collect(Collectors.joining("\n"));
		}
		if (response instanceof byte[] bytes) {
			return SafeEncoder.encode(bytes).strip();
		}
		return Objects.toString(response, "");
	}

	/**
	 * Returns the keys that match a pattern.
	 * @param pattern the pattern, such as {@code *}
	 * @return the keys
	 */
	public List<String> keys(String pattern) {
		try (Jedis connection = connect()) {
			return List.copyOf(connection.keys(pattern));
		}
	}

	/**
	 * Records all commands that the server executes during an action, including those in
	 * scripts, which the server's statistics do not count.
	 * @param action the action
	 * @return one line for each command, in the format of {@code monitor}
	 * @throws Exception if the action fails
	 */
	public List<String> watched(Callable<?> action) throws Exception {
		try (Jedis monitor = connect()) {
			send(monitor, "monitor");
			action.call();
			String end = "end-" + UUID.randomUUID();
			ask("echo", end);
			List<String> lines = new ArrayList<>();
			for (String line = next(monitor); !line.contains(end); line = next(monitor)) {
				lines.add(line);
			}
			return lines;
		}
	}

	private static String next(Jedis monitor) {
		return monitor.getConnection().getStatusCodeReply();
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

}
