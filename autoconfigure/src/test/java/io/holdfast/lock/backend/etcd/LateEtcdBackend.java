package io.holdfast.lock.backend.etcd;

import io.etcd.jetcd.Client;
import org.junit.jupiter.api.AfterEach;

import io.holdfast.lock.support.SystemSchedulingClock;

import static io.holdfast.lock.backend.Verbs.BOUND;

/**
 * A backend whose requests a test can delay, and another client of the same etcd.
 */
abstract class LateEtcdBackend extends OneEtcdServer {

	final SystemSchedulingClock clock = new SystemSchedulingClock("test-etcd");

	final LateClient client = LateClient.to(server.endpoint());

	final EtcdLockBackend backend = new EtcdLockBackend(this.client, NAMESPACE, "test", this.clock, this.clock::close);

	final EtcdLockBackend other = new EtcdLockBackend(Client.builder().endpoints(server.endpoint()),
			new EtcdLockOptions(NAMESPACE, BOUND));

	@AfterEach
	void closeAll() {
		this.backend.close();
		this.other.close();
	}

}
