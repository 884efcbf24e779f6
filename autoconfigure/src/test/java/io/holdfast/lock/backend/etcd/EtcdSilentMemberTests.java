package io.holdfast.lock.backend.etcd;

import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;

import io.etcd.jetcd.Client;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.ServerProcess;
import io.holdfast.lock.test.server.TcpProxy;

import static io.holdfast.lock.backend.Verbs.answer;

/**
 * Tests for a member that keeps its connections open but no longer responds, because it
 * is paused or the network drops its packets.
 */
class EtcdSilentMemberTests extends OneEtcdServer {

	/** Of these, every second one goes to the same member. */
	private static final int REQUESTS = 10;

	/** Well below the 40 s after which jetcd by default gives a silent member up. */
	private static final Duration SOON = Duration.ofSeconds(20);

	private static final Duration LONG = Duration.ofMinutes(1);

	@Slow
	@Test
	void silentMemberIsSkippedSoon() throws Exception {
		silentMemberIsSkipped(Duration.ofSeconds(1), SOON);
	}

	@Slow
	@Test
	void silentMemberIsSkippedBeforeALongResponseTimeout() throws Exception {
		silentMemberIsSkipped(LONG, LONG.dividedBy(2));
	}

	private static void silentMemberIsSkipped(Duration responseTimeout, Duration within) throws Exception {
		try (TcpProxy silent = TcpProxy.to(server.port());
				TcpProxy other = TcpProxy.to(server.port());
				JetcdClient client = JetcdClient.create(Client.builder().endpoints(endpoint(silent), endpoint(other)),
						responseTimeout)) {
			Awaitility.await("both members").until(() -> respondsToAll(client));
			silent.stall();
			Awaitility.await("the other member").atMost(within).until(() -> respondsToAll(client));
			silent.flow();
		}
	}

	private static boolean respondsToAll(JetcdClient client) {
		return Stream.generate(() -> responds(client)).limit(REQUESTS).allMatch(Boolean::booleanValue);
	}

	private static boolean responds(JetcdClient client) {
		try {
			answer(client.list(ROOT));
			return true;
		}
		catch (ExecutionException ex) {
			return false;
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static String endpoint(TcpProxy member) {
		return "http://" + ServerProcess.HOST + ":" + member.port();
	}

}
