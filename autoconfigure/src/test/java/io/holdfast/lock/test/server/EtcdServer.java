package io.holdfast.lock.test.server;

import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.etcd.jetcd.Auth;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.auth.Permission;
import io.etcd.jetcd.options.OptionsUtil;
import org.jspecify.annotations.Nullable;

/**
 * A real etcd server for tests, standalone or as a member of a cluster, with an empty key
 * space.
 */
public final class EtcdServer extends ServerProcess {

	private static final String PACKAGE = "etcd-server";

	/** Matches the id that identifies a member in its requests to other members. */
	private static final Pattern ID = Pattern.compile("etcd_server_id\\{server_id=\"(\\w+)\"}");

	private final int peerPort = freePort();

	private final int metricsPort = freePort();

	/** The proxy through which the other members reach this one. */
	private final TcpProxy peerWire = TcpProxy.to(this.peerPort);

	private String cluster = member();

	private final @Nullable TestCertificate certificate;

	private EtcdServer(boolean secured) {
		super("etcd", MemoryDisk.directory());
		this.certificate = secured ? TestCertificate.createIn(directory()) : null;
	}

	/**
	 * Starts a standalone server.
	 * @return the server, which the caller must close
	 */
	public static EtcdServer started() {
		return cluster(1).get(0);
	}

	/**
	 * Starts a standalone server with TLS and a self-signed certificate.
	 * @return the server, which the caller must close
	 */
	public static EtcdServer secured() {
		return started(List.of(new EtcdServer(true))).get(0);
	}

	/**
	 * Starts a cluster.
	 * @param size the number of members
	 * @return the members, each of which the caller must close
	 */
	public static List<EtcdServer> cluster(int size) {
		return started(Stream.generate(() -> new EtcdServer(false)).limit(size).toList());
	}

	private static List<EtcdServer> started(List<EtcdServer> members) {
		String cluster = members.stream().map(EtcdServer::member).collect(Collectors.joining(","));
		members.forEach((member) -> member.cluster = cluster);
		try {
			startAll(members);
			return members;
		}
		catch (RuntimeException ex) {
			members.forEach(EtcdServer::close);
			throw ex;
		}
	}

	private String member() {
		return "m%d=%s".formatted(port(), url(this.peerWire.port()));
	}

	private static String url(int port) {
		return "http://%s:%d".formatted(HOST, port);
	}

	@Override
	protected List<String> command() {
		List<String> command = new ArrayList<>(List.of(Executables.require("etcd", PACKAGE).toString(), "--name",
				"m" + port(), "--data-dir", directory().resolve("data").toString(), "--listen-client-urls", endpoint(),
				"--advertise-client-urls", endpoint(), "--listen-peer-urls", url(this.peerPort),
				"--initial-advertise-peer-urls", url(this.peerWire.port()), "--initial-cluster", this.cluster,
				"--log-level", "warn", "--listen-metrics-urls", url(this.metricsPort)));
		if (this.certificate != null) {
			command.addAll(List.of("--cert-file", this.certificate.certificate().toString(), "--key-file",
					this.certificate.key().toString()));
		}
		return command;
	}

	@Override
	protected boolean isReady() throws IOException {
		return ask("/health").contains("\"true\"");
	}

	/**
	 * Requests the status of the server over HTTP.
	 * @param path the path, such as {@code /metrics}
	 * @return the response
	 * @throws IOException if the server does not respond
	 */
	public String ask(String path) throws IOException {
		URI address = URI.create(url(this.metricsPort) + path);
		HttpURLConnection request = (HttpURLConnection) address.toURL().openConnection();
		request.setConnectTimeout(1_000);
		request.setReadTimeout(2_000);
		try (InputStream answer = request.getInputStream()) {
			return new String(answer.readAllBytes(), StandardCharsets.UTF_8);
		}
		finally {
			request.disconnect();
		}
	}

	/**
	 * Whether this member is the leader of its cluster.
	 * @return whether it is the leader; {@code false} if it does not respond
	 */
	public boolean isLeader() {
		try {
			return ask("/metrics").contains("\netcd_server_is_leader 1");
		}
		catch (IOException ex) {
			return false;
		}
	}

	/**
	 * Returns the leader of a cluster.
	 * @param members all members
	 * @return the leader
	 */
	public static EtcdServer leader(List<EtcdServer> members) {
		return members.stream()
			.filter(EtcdServer::isLeader)
			.findFirst()
			.orElseThrow(() -> new IllegalStateException("No member leads"));
	}

	/**
	 * Partitions the network between this member and others. Clients can still reach all
	 * members.
	 * @param others the other members
	 * @throws IOException if the server does not respond
	 */
	public void separateFrom(List<EtcdServer> others) throws IOException {
		Matcher id = ID.matcher(ask("/metrics"));
		if (!id.find()) {
			throw new IllegalStateException("The server does not say its id");
		}
		this.peerWire.refuse("");
		others.forEach((other) -> other.peerWire.refuse("X-Server-From: " + id.group(1)));
	}

	/**
	 * Reconnects all members of a cluster.
	 * @param members the members
	 */
	public static void reunite(List<EtcdServer> members) {
		members.forEach((member) -> member.peerWire.refuseNothing());
	}

	@Override
	public void close() {
		super.close();
		this.peerWire.close();
	}

	/**
	 * Returns the endpoint for clients.
	 * @return the URL
	 */
	public String endpoint() {
		return "%s://%s:%d".formatted((this.certificate != null) ? "https" : "http", HOST, port());
	}

	/**
	 * Returns the certificate of a server with TLS.
	 * @return the file
	 */
	public Path certificate() {
		return Objects.requireNonNull(this.certificate).certificate();
	}

	/**
	 * Enables authentication for root and for one user with access to some keys only.
	 * @param user the name of the user
	 * @param password the password of the user
	 * @param prefix the prefix of the keys that the user may read and write
	 */
	public void enableAuthentication(String user, String password, String prefix) {
		try (Client root = Client.builder().endpoints(endpoint()).build()) {
			Auth auth = root.getAuthClient();
			auth.userAdd(bytes("root"), bytes("root")).get(10, TimeUnit.SECONDS);
			auth.roleAdd(bytes("root")).get(10, TimeUnit.SECONDS);
			auth.userGrantRole(bytes("root"), bytes("root")).get(10, TimeUnit.SECONDS);
			auth.userAdd(bytes(user), bytes(password)).get(10, TimeUnit.SECONDS);
			auth.roleAdd(bytes(user)).get(10, TimeUnit.SECONDS);
			auth.roleGrantPermission(bytes(user), bytes(prefix), OptionsUtil.prefixEndOf(bytes(prefix)),
					Permission.Type.READWRITE)
				.get(10, TimeUnit.SECONDS);
			auth.userGrantRole(bytes(user), bytes(user)).get(10, TimeUnit.SECONDS);
			auth.authEnable().get(10, TimeUnit.SECONDS);
		}
		catch (InterruptedException | ExecutionException | TimeoutException ex) {
			throw new IllegalStateException("etcd took no users", ex);
		}
	}

	private static ByteSequence bytes(String text) {
		return ByteSequence.from(text, StandardCharsets.UTF_8);
	}

}
