package io.holdfast.lock.test.server;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A real ZooKeeper server for tests, standalone or as a member of an ensemble, with an
 * empty tree.
 */
public final class ZooKeeperServer extends ServerProcess {

	private static final String PACKAGE = "zookeeper";

	private static final Path JAR = Path.of("/usr/share/java/zookeeper.jar");

	private static final Path LOGGER = Path.of("/usr/share/java/slf4j-simple.jar");

	/** Tests do not wait for the minute that is ZooKeeper's default. */
	private static final Duration EMPTY_NODES = Duration.ofMillis(500);

	private final Path configuration;

	private final Duration emptyNodes;

	private final int peerPort = freePort();

	private final int electionPort = freePort();

	/** The proxy through which the other servers reach this one when it is the leader. */
	private final TcpProxy peerWire = TcpProxy.to(this.peerPort);

	private ZooKeeperServer(Duration emptyNodes) {
		super("zookeeper");
		this.emptyNodes = emptyNodes;
		this.configuration = directory().resolve("zoo.cfg");
	}

	/**
	 * Starts a standalone server with a new tree.
	 * @return the server, which the caller must close
	 */
	public static ZooKeeperServer started() {
		return ensemble(1).get(0);
	}

	/**
	 * Starts a standalone server with a new tree.
	 * @param emptyNodes how often the server removes empty container nodes
	 * @return the server, which the caller must close
	 */
	public static ZooKeeperServer started(Duration emptyNodes) {
		return ensemble(1, emptyNodes).get(0);
	}

	/**
	 * Starts an ensemble with a new tree.
	 * @param size the number of servers
	 * @return the servers, each of which the caller must close
	 */
	public static List<ZooKeeperServer> ensemble(int size) {
		return ensemble(size, EMPTY_NODES);
	}

	private static List<ZooKeeperServer> ensemble(int size, Duration emptyNodes) {
		if (!Files.exists(JAR)) {
			throw notInstalled("ZooKeeper", PACKAGE);
		}
		List<ZooKeeperServer> servers = Stream.generate(() -> new ZooKeeperServer(emptyNodes)).limit(size).toList();
		try {
			for (int i = 0; i < size; i++) {
				servers.get(i).configure(i, servers);
			}
			// no server becomes ready without a quorum
			startAll(servers);
			return servers;
		}
		catch (IOException | RuntimeException ex) {
			servers.forEach(ZooKeeperServer::close);
			throw new IllegalStateException("ZooKeeper did not start", ex);
		}
	}

	private void configure(int number, List<ZooKeeperServer> servers) throws IOException {
		Path data = Files.createDirectory(directory().resolve("data"));
		Files.writeString(data.resolve("myid"), Integer.toString(number));
		Files.writeString(this.configuration, """
				tickTime=200
				initLimit=50
				syncLimit=10
				minSessionTimeout=400
				maxSessionTimeout=60000
				dataDir=%s
				clientPort=%d
				clientPortAddress=%s
				admin.enableServer=false
				4lw.commands.whitelist=*
				maxClientCnxns=0
				forceSync=no
				%s
				""".formatted(data, port(), HOST, (servers.size() > 1) ? members(servers, number) : ""));
	}

	private static String members(List<ZooKeeperServer> servers, int self) {
		return IntStream.range(0, servers.size())
			.mapToObj((i) -> "server.%d=%s:%d:%d".formatted(i, HOST,
					(i == self) ? servers.get(i).peerPort : servers.get(i).peerWire.port(),
					servers.get(i).electionPort))
			.collect(Collectors.joining("\n"));
	}

	/**
	 * Stops all traffic between this server and its followers if it is the leader.
	 * Clients can still reach all servers.
	 */
	public void separateFromFollowers() {
		this.peerWire.stall();
	}

	/**
	 * Reconnects the other servers to this one.
	 */
	public void reunite() {
		this.peerWire.flow();
		this.peerWire.cut();
	}

	@Override
	protected List<String> command() {
		return List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx128m",
				"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:+UnlockDiagnosticVMOptions",
				"-XX:-BytecodeVerificationRemote", "-XX:+ExitOnOutOfMemoryError",
				"-Dznode.container.checkIntervalMs=" + this.emptyNodes.toMillis(), "-cp", JAR + ":" + LOGGER,
				"org.apache.zookeeper.server.quorum.QuorumPeerMain", this.configuration.toString());
	}

	@Override
	protected boolean isReady() throws IOException {
		return ask("srvr").contains("Mode: ");
	}

	/**
	 * Whether this server is the leader of its ensemble.
	 * @return whether it is the leader; {@code false} if it does not respond
	 */
	public boolean isLeader() {
		try {
			return ask("srvr").contains("Mode: leader");
		}
		catch (IOException ex) {
			return false;
		}
	}

	/**
	 * Sends a command to the server.
	 * @param word a four-letter word, such as {@code wchs}
	 * @return the response
	 * @throws IOException if the server does not respond
	 */
	public String ask(String word) throws IOException {
		try (Socket socket = new Socket(HOST, port())) {
			socket.setSoTimeout(2_000);
			socket.getOutputStream().write(word.getBytes(StandardCharsets.US_ASCII));
			socket.getOutputStream().flush();
			try (InputStream answer = socket.getInputStream()) {
				return new String(answer.readAllBytes(), StandardCharsets.US_ASCII);
			}
		}
	}

	/**
	 * Returns the connect string for clients.
	 * @return the connect string
	 */
	public String connectString() {
		return HOST + ":" + port();
	}

	@Override
	public void close() {
		super.close();
		this.peerWire.close();
	}

}
