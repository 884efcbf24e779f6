package io.holdfast.lock.test.server;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A real ZooKeeper of one server, with an empty tree, for tests.
 */
public final class ZooKeeperServer extends ServerProcess {

	private static final String PACKAGE = "zookeeper";

	private static final Path JAR = Path.of("/usr/share/java/zookeeper.jar");

	private final Path configuration;

	private ZooKeeperServer() {
		super("zookeeper");
		this.configuration = directory().resolve("zoo.cfg");
	}

	/**
	 * Start a server with a new tree.
	 * @return the server; to be closed
	 */
	public static ZooKeeperServer started() {
		if (!Files.exists(JAR)) {
			throw notInstalled("ZooKeeper", PACKAGE);
		}
		ZooKeeperServer server = new ZooKeeperServer();
		try {
			server.configure();
			server.start();
			return server;
		}
		catch (IOException | RuntimeException ex) {
			server.close();
			throw new IllegalStateException("ZooKeeper did not start", ex);
		}
	}

	private void configure() throws IOException {
		Files.writeString(this.configuration, """
				tickTime=200
				minSessionTimeout=400
				maxSessionTimeout=60000
				dataDir=%s
				clientPort=%d
				clientPortAddress=%s
				admin.enableServer=false
				4lw.commands.whitelist=*
				maxClientCnxns=0
				forceSync=no
				""".formatted(directory().resolve("data"), port(), HOST));
	}

	@Override
	protected List<String> command() {
		return List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx128m",
				"-Dznode.container.checkIntervalMs=500", "-cp", "/etc/zookeeper/conf:/usr/share/java/*",
				"org.apache.zookeeper.server.quorum.QuorumPeerMain", this.configuration.toString());
	}

	@Override
	protected boolean isReady() throws IOException {
		return ask("ruok").equals("imok");
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

}
