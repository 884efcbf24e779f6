package io.holdfast.lock.backend.zookeeper;

import java.io.File;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingCluster;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

import io.holdfast.lock.test.server.ServerProcess;
import io.holdfast.lock.test.server.TcpProxy;

import static io.holdfast.lock.backend.Verbs.BOUND;

/**
 * Three servers that reach each other through proxies, so that one can lag behind the
 * others while its clients notice nothing.
 */
final class ZooKeeperEnsemble implements AutoCloseable {

	private static final int TICK_MILLIS = 500;

	/**
	 * How long a member keeps answering reads without a message from its leader, in
	 * ticks.
	 */
	private static final int SYNC_LIMIT_TICKS = 60;

	private final List<InstanceSpec> members = new ArrayList<>();

	/** The proxies from each member to the others, by the port of the member. */
	private final Map<Integer, List<TcpProxy>> wires = new LinkedHashMap<>();

	private final TestingCluster cluster;

	ZooKeeperEnsemble() throws Exception {
		this.members.addAll(members(Map.of()));
		Map<InstanceSpec, Collection<InstanceSpec>> views = new LinkedHashMap<>();
		this.members.forEach((member) -> views.put(member, view(member)));
		this.cluster = new TestingCluster(views);
		this.cluster.start();
		Awaitility.await("a leader").atMost(BOUND).ignoreExceptions().until(() -> ports("follower").size() == 2);
	}

	/** Starts three servers that reach each other directly. */
	static TestingCluster withoutProxies() throws Exception {
		return withoutProxies(Map.of());
	}

	/** Starts three servers that reach each other directly, with more settings. */
	static TestingCluster withoutProxies(Map<String, Object> settings) throws Exception {
		TestingCluster cluster = new TestingCluster(members(settings));
		cluster.start();
		return cluster;
	}

	/** Uses reserved ports, because Curator's own random ports are not distinct. */
	private static List<InstanceSpec> members(Map<String, Object> settings) {
		return IntStream.rangeClosed(1, 3)
			.mapToObj((id) -> member(null, ServerProcess.freePort(), ServerProcess.freePort(), ServerProcess.freePort(),
					id, settings))
			.toList();
	}

	private static InstanceSpec member(@Nullable File directory, int port, int electionPort, int quorumPort, int id,
			Map<String, Object> settings) {
		Map<String, Object> all = new HashMap<>(settings);
		all.put("syncLimit", Integer.toString(SYNC_LIMIT_TICKS));
		return new InstanceSpec(directory, port, electionPort, quorumPort, true, id, TICK_MILLIS, -1, all, "127.0.0.1");
	}

	/** Returns the ensemble as one member sees it, with the others behind its proxies. */
	private List<InstanceSpec> view(InstanceSpec viewer) {
		List<InstanceSpec> view = new ArrayList<>();
		for (InstanceSpec member : this.members) {
			TcpProxy wire = TcpProxy.to(member.getQuorumPort());
			this.wires.computeIfAbsent(viewer.getPort(), (port) -> new ArrayList<>()).add(wire);
			view.add((member == viewer) ? member : member(member.getDataDirectory(), member.getPort(),
					member.getElectionPort(), wire.port(), member.getServerId(), Map.of()));
		}
		return view;
	}

	/** Returns the ports of the members that are {@code leader} or {@code follower}. */
	List<Integer> ports(String mode) {
		return this.members.stream()
			.map(InstanceSpec::getPort)
			.filter((port) -> ask(port).contains("Mode: " + mode))
			.toList();
	}

	private static String ask(int port) {
		try (Socket socket = new Socket("127.0.0.1", port)) {
			socket.setSoTimeout(2_000);
			socket.getOutputStream().write("srvr".getBytes(StandardCharsets.US_ASCII));
			return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
		}
		catch (IOException ex) {
			return "";
		}
	}

	String leader() {
		return "127.0.0.1:" + ports("leader").get(0);
	}

	int follower() {
		return ports("follower").get(0);
	}

	/** Stalls the connections of a member to the others, unnoticed by the member. */
	void stall(int port) {
		this.wires.get(port).forEach(TcpProxy::stall);
	}

	void flow(int port) {
		this.wires.get(port).forEach(TcpProxy::flow);
	}

	void killLeader() {
		int port = ports("leader").get(0);
		try {
			this.cluster.killServer(
					this.members.stream().filter((member) -> member.getPort() == port).findFirst().orElseThrow());
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public void close() throws Exception {
		this.wires.values().forEach((wires) -> wires.forEach(TcpProxy::flow));
		this.cluster.close();
		this.wires.values().forEach((wires) -> wires.forEach(TcpProxy::close));
	}

}
