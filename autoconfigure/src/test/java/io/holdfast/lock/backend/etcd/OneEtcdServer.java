package io.holdfast.lock.backend.etcd;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.TimeUnit;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KeyValue;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;

import io.holdfast.lock.LockName;
import io.holdfast.lock.test.server.EtcdServer;

import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.lasting;
import static io.holdfast.lock.backend.Verbs.released;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Base class for tests on one etcd server, which leave nothing in their namespace.
 */
abstract class OneEtcdServer {

	static final LockName LOCK = LockName.of("stock", "42");

	static final String NAMESPACE = "shop";

	static final String ROOT = "/holdfast/" + NAMESPACE + "/";

	private static final ByteSequence ELSEWHERE = bytes("/elsewhere");

	static EtcdServer server;

	static Client inspection;

	/**
	 * The first requests of a JVM load the client's classes, which may take longer on a
	 * busy machine than a test allows for a response.
	 */
	@BeforeAll
	static void startServer() throws Exception {
		server = EtcdServer.started();
		inspection = Client.builder().endpoints(server.endpoint()).build();
		try (EtcdLockBackend first = new EtcdLockBackend(Client.builder().endpoints(server.endpoint()),
				new EtcdLockOptions(NAMESPACE, Duration.ofSeconds(20)))) {
			released(first, granted(first, lasting(LOCK, Duration.ofSeconds(30))));
		}
	}

	@AfterAll
	static void stopServer() {
		inspection.close();
		server.close();
	}

	/** Runs after the subclass has closed its backends. */
	@AfterEach
	void nothingIsLeft() throws Exception {
		assertThat(keys("")).isEmpty();
	}

	static ByteSequence bytes(String text) {
		return ByteSequence.from(text, StandardCharsets.UTF_8);
	}

	static Collection<KeyValue> keys(String below) throws Exception {
		return EtcdLockBackendContractTests.keys(inspection, ROOT + below);
	}

	/** Returns the key of the first claim. */
	static KeyValue key() throws Exception {
		return keys("locks/").iterator().next();
	}

	/** Returns the present revision of the server. */
	static long revision() throws Exception {
		return inspection.getKVClient().get(ELSEWHERE).get(10, TimeUnit.SECONDS).getHeader().getRevision();
	}

	static void deleteKey() throws Exception {
		inspection.getKVClient().delete(key().getKey()).get(10, TimeUnit.SECONDS);
	}

	static void endSessions() throws Exception {
		EtcdLockBackendContractTests.endSessions(inspection, NAMESPACE);
	}

}
