package io.holdfast.lock.test.server;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A real ZooKeeper with an empty tree, for tests: one server, alone or of an ensemble.
 */
public final class ZooKeeperServer extends ServerProcess {

	private static final String PACKAGE = "zookeeper";

	private static final Path JAR = Path.of("/usr/share/java/zookeeper.jar");

	private static final Path LOGGER = Path.of("/usr/share/java/slf4j-simple.jar");

	private final Path configuration;

	private final int peerPort = freePort();

	private final int electionPort = freePort();

	/** How the other servers reach this one when it leads them. */
	private final TcpProxy peerWire = TcpProxy.to(this.peerPort);

	private ZooKeeperServer() {
		super("zookeeper");
		this.configuration = directory().resolve("zoo.cfg");
	}

	/**
	 * Start a server that is alone, with a new tree.
	 * @return the server; to be closed
	 */
	public static ZooKeeperServer started() {
		return ensemble(1).get(0);
	}

	/**
	 * Start an ensemble with a new tree.
	 * @param size how many servers
	 * @return the servers; each to be closed
	 */
	public static List<ZooKeeperServer> ensemble(int size) {
		if (!Files.exists(JAR)) {
			throw notInstalled("ZooKeeper", PACKAGE);
		}
		List<ZooKeeperServer> servers = Stream.generate(ZooKeeperServer::new).limit(size).toList();
		try {
			for (int i = 0; i < size; i++) {
				servers.get(i).configure(i, servers);
			}
			// none is ready before a majority is there
			servers.parallelStream().forEach(ZooKeeperServer::start);
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
	 * Stop all traffic between this server, if it leads the others, and its followers;
	 * clients reach all of them as before.
	 */
	public void separateFromFollowers() {
		this.peerWire.stall();
	}

	/**
	 * Let the others reach this server again.
	 */
	public void reunite() {
		this.peerWire.flow();
		this.peerWire.cut();
	}

	@Override
	protected List<String> command() {
		return List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx128m",
				"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dznode.container.checkIntervalMs=500", "-cp",
				JAR + ":" + LOGGER, "org.apache.zookeeper.server.quorum.QuorumPeerMain", this.configuration.toString());
	}

	@Override
	protected boolean isReady() throws IOException {
		return ask("srvr").contains("Mode: ");
	}

	/**
	 * Whether it leads its ensemble.
	 * @return whether it does; not if it does not answer
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
	 * Ask the server about itself.
	 * @param word one of its four-letter words, such as {@code wchs}
	 * @return the answer
	 * @throws IOException if it does not answer
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
	 * Where the server is.
	 * @return its address as clients take it
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
