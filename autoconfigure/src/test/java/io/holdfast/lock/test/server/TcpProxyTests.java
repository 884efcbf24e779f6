package io.holdfast.lock.test.server;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link TcpProxy}: a proxy that was cut or closed forwards nothing, not even
 * on a connection that was being established at that time.
 */
class TcpProxyTests {

	private static final Duration BOUND = Duration.ofSeconds(30);

	private final List<AutoCloseable> opened = new ArrayList<>();

	private ServerSocket server;

	private TcpProxy wire;

	@BeforeEach
	void open() throws IOException {
		this.server = closedLater(listening());
		this.wire = closedLater(TcpProxy.to(this.server.getLocalPort()));
	}

	@AfterEach
	void closeAll() throws Exception {
		for (AutoCloseable closeable : this.opened) {
			closeable.close();
		}
	}

	private <T extends AutoCloseable> T closedLater(T closeable) {
		this.opened.add(0, closeable);
		return closeable;
	}

	/**
	 * Creates a server socket with a backlog of one, so that further connections stay in
	 * progress.
	 */
	private static ServerSocket listening() throws IOException {
		return new ServerSocket(0, 1, InetAddress.getByName(ServerProcess.HOST));
	}

	private Socket client(int port) throws IOException {
		return closedLater(new Socket(ServerProcess.HOST, port));
	}

	@Test
	void passesBothWays() throws IOException {
		Socket client = client(this.wire.port());
		Socket accepted = closedLater(this.server.accept());
		client.getOutputStream().write('?');
		assertThat(accepted.getInputStream().read()).isEqualTo('?');
		accepted.getOutputStream().write('!');
		assertThat(client.getInputStream().read()).isEqualTo('!');
	}

	@Test
	void connectionBeingOpenedDuringCloseIsBroken() throws IOException {
		assertBrokenBy((wire, other) -> wire.close());
	}

	@Test
	void connectionBeingOpenedDuringCutIsBroken() throws IOException {
		assertBrokenBy((wire, other) -> wire.cut());
	}

	@Test
	void connectionBeingOpenedDuringRedirectIsBroken() throws IOException {
		assertBrokenBy(TcpProxy::redirectTo);
	}

	private void assertBrokenBy(BiConsumer<TcpProxy, Integer> fault) throws IOException {
		ServerSocket other = closedLater(listening());
		List<Socket> sockets = List.of(client(this.server.getLocalPort()), client(this.server.getLocalPort()));
		Socket client = client(this.wire.port());
		Awaitility.await("the wire to connect").atMost(BOUND).until(() -> this.wire.connections() == 1);
		fault.accept(this.wire, other.getLocalPort());
		sockets.forEach((waiting) -> acceptedAndClosed());
		client.setSoTimeout((int) BOUND.toMillis());
		assertThat(client.getInputStream().read()).as("what a client of a broken connection reads").isEqualTo(-1);
	}

	private void acceptedAndClosed() {
		try (Socket socket = this.server.accept()) {
			assertThat(socket.isConnected()).isTrue();
		}
		catch (IOException ex) {
			throw new AssertionError(ex);
		}
	}

}
