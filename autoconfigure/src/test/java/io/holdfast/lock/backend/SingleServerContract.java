package io.holdfast.lock.backend;

import java.util.ArrayDeque;
import java.util.Deque;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.test.contract.LockBackendContract;
import io.holdfast.lock.test.contract.StoreFaults;
import io.holdfast.lock.test.server.ServerFaults;
import io.holdfast.lock.test.server.ServerProcess;
import io.holdfast.lock.test.server.TcpProxy;

/**
 * The contract on a store that is one server, with a proxy for each of the two clients.
 *
 * @param <S> the type of the server
 */
public abstract class SingleServerContract<S extends ServerProcess> extends LockBackendContract {

	protected final S server;

	private final String acquisition;

	private final TcpProxy firstWire;

	private final TcpProxy secondWire;

	private final Deque<AutoCloseable> opened = new ArrayDeque<>();

	private LockBackend first;

	private LockBackend second;

	/**
	 * Creates the harness.
	 * @param server the server, which this class closes
	 * @param acquisition a text that only acquisition requests contain
	 */
	protected SingleServerContract(S server, String acquisition) {
		this.server = server;
		this.acquisition = acquisition;
		this.firstWire = track(TcpProxy.to(server.port()));
		this.secondWire = track(TcpProxy.to(server.port()));
	}

	/** Returns a new client of the server behind the port. */
	protected abstract LockBackend connect(int port);

	/** Ends the session of the first client. */
	protected void killSession() throws Exception {
		throw new UnsupportedOperationException("A client has no session");
	}

	/**
	 * Closes an object when all cases have run, before those that were opened earlier.
	 */
	protected final <T extends AutoCloseable> T track(T closeable) {
		this.opened.push(closeable);
		return closeable;
	}

	@BeforeAll
	void connectBoth() {
		this.first = connect(this.firstWire.port());
		this.second = connect(this.secondWire.port());
	}

	@AfterAll
	void closeAll() throws Exception {
		for (AutoCloseable closeable : this.opened) {
			closeable.close();
		}
		this.server.close();
	}

	@Override
	protected final LockBackend backend() {
		return this.first;
	}

	@Override
	protected final LockBackend secondClient() {
		return this.second;
	}

	@Override
	protected final StoreFaults faults() {
		return new ServerFaults(this.server, this.acquisition, this.firstWire, this.secondWire) {

			@Override
			public void killSession() throws Exception {
				SingleServerContract.this.killSession();
			}

		};
	}

}
