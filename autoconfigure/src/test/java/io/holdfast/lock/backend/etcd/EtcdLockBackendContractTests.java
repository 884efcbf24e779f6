package io.holdfast.lock.backend.etcd;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.TimeUnit;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.options.GetOption;

import io.holdfast.lock.backend.SingleServerContract;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.test.server.EtcdServer;

class EtcdLockBackendContractTests extends SingleServerContract<EtcdServer> {

	private final Client inspection = track(Client.builder().endpoints(this.server.endpoint()).build());

	EtcdLockBackendContractTests() {
		super(EtcdServer.started(), "/x-");
	}

	@Override
	protected LockBackend connect(int port) {
		return track(new EtcdLockBackend(Client.builder().endpoints("http://127.0.0.1:" + port),
				new EtcdLockOptions("test", Duration.ofSeconds(2))));
	}

	@Override
	protected Collection<String> leftovers() throws Exception {
		return keys(this.inspection, "/holdfast/test/locks/").stream()
			.map((read) -> read.getKey().toString(StandardCharsets.UTF_8))
			.toList();
	}

	@Override
	protected void killSession() throws Exception {
		endSessions(this.inspection, "test");
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
