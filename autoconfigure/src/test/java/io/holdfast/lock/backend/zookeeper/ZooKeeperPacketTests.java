package io.holdfast.lock.backend.zookeeper;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.ZooKeeperServer;

import static io.holdfast.lock.backend.Verbs.claim;
import static io.holdfast.lock.backend.Verbs.released;
import static io.holdfast.lock.backend.Verbs.soonGranted;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Counts the packets of locks at a real server.
 */
class ZooKeeperPacketTests {

	private static final LockName LOCK = LockName.of("stock", "42");

	private static final int PAIRS = 100;

	private static final Pattern RECEIVED = Pattern.compile("zk_packets_received\\s+(\\d+)");

	/** The limit leaves room for heartbeats and pings, and is below three packets. */
	@Slow
	@Test
	void lockThatOneClientUsesAgainTakesTwoPackets() throws Exception {
		try (ZooKeeperServer server = ZooKeeperServer.started();
				ZooKeeperBench bench = new ZooKeeperBench(server.connectString())) {
			ZooKeeperLockBackend store = bench.store(bench.client(server.connectString(), 60_000));
			Grant first = soonGranted(store, claim(LOCK));
			// the server would remove an empty wait queue within half a second
			bench.inspection().create().forPath(bench.waitQueues().get(0) + "/foreign");
			released(store, first);
			pairs(store, 10);
			long before = received(server);
			pairs(store, PAIRS);
			assertThat(received(server) - before).isBetween(2L * PAIRS, 2L * PAIRS + PAIRS / 2);
		}
	}

	private static void pairs(ZooKeeperLockBackend store, int count) throws Exception {
		for (int i = 0; i < count; i++) {
			released(store, soonGranted(store, claim(LOCK)));
		}
	}

	private static long received(ZooKeeperServer server) throws Exception {
		Matcher matcher = RECEIVED.matcher(server.ask("mntr"));
		assertThat(matcher.find()).isTrue();
		return Long.parseLong(matcher.group(1));
	}

}
