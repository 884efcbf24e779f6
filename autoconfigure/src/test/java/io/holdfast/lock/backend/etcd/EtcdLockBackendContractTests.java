package io.holdfast.lock.backend.etcd;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.options.GetOption;
import org.junit.jupiter.api.AfterAll;

import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.test.contract.Ability;
import io.holdfast.lock.test.contract.LockBackendContract;
import io.holdfast.lock.test.contract.StoreFaults;
import io.holdfast.lock.test.server.EtcdServer;
import io.holdfast.lock.test.server.ServerFaults;
import io.holdfast.lock.test.server.TcpProxy;

class EtcdLockBackendContractTests extends LockBackendContract {

	private final EtcdServer server = EtcdServer.started();

	private final TcpProxy firstWire = TcpProxy.to(this.server.port());

	private final TcpProxy secondWire = TcpProxy.to(this.server.port());

	private final Client inspection = Client.builder().endpoints(this.server.endpoint()).build();

	private final EtcdLockBackend first = backend(this.firstWire.port());

	private final EtcdLockBackend second = backend(this.secondWire.port());

	static EtcdLockBackend backend(int port) {
		return new EtcdLockBackend(Client.builder().endpoints("http://127.0.0.1:" + port), "test",
				Duration.ofSeconds(2));
	}

	@AfterAll
	void closeAll() {
		this.first.close();
		this.second.close();
		this.inspection.close();
		this.firstWire.close();
		this.secondWire.close();
		this.server.close();
	}

	@Override
	protected LockBackend backend() {
		return this.first;
	}

	@Override
	protected LockBackend secondClient() {
		return this.second;
	}

	@Override
	protected Collection<String> leftovers() throws Exception {
		return keys(this.inspection, "/holdfast/test/locks/").stream()
			.map((read) -> read.getKey().toString(StandardCharsets.UTF_8))
			.toList();
	}

	@Override
	protected Map<Ability, String> lacks() {
		return Map.of();
	}

	@Override
	protected StoreFaults faults() {
		return new ServerFaults(this.server, "/x-", this.firstWire, this.secondWire) {

			@Override
			public void killSession() throws Exception {
				endSessions(EtcdLockBackendContractTests.this.inspection, "test");
			}

		};
	}

	static Collection<KeyValue> keys(Client client, String prefix) throws Exception {
		return client.getKVClient()
			.get(ByteSequence.from(prefix, StandardCharsets.UTF_8), GetOption.builder().isPrefix(true).build())
			.get(10, TimeUnit.SECONDS)
			.getKvs();
	}

	/** Ends all sessions, as etcd does when their leases expire. */
	static void endSessions(Client client, String namespace) throws Exception {
		for (KeyValue session : keys(client, "/holdfast/" + namespace + "/sessions/")) {
			client.getLeaseClient().revoke(session.getLease()).get(10, TimeUnit.SECONDS);
		}
	}

}
