package io.holdfast.lock.backend.zookeeper;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.ZooKeeperServer;
import io.holdfast.lock.test.simulation.History;
import io.holdfast.lock.test.simulation.Simulation;

import static io.holdfast.lock.backend.Verbs.BOUND;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares the model of ZooKeeper with a real server. Clients of both send the same
 * requests in the same order, lose their connections and sessions, and receive the same
 * notifications.
 */
@Slow
class ModelZooKeeperTests {

	private static final int STEPS = 300;

	private static final int CLIENTS = 3;

	/** One step in this many breaks a connection or ends a session. */
	private static final int RARELY = 75;

	private static final String ROOT = "/model";

	private static final String MISSING = ROOT + "/missing";

	private final Random random = new Random(42);

	private final ZooKeeperServer server = ZooKeeperServer.started();

	private final Simulation simulation = new Simulation(42, History.discarded());

	private final SimulatedZooKeeper model = new SimulatedZooKeeper(this.simulation);

	private final ComparedZooKeeper real = new ComparedZooKeeper(CompletableFuture::join);

	private final ComparedZooKeeper modelled = new ComparedZooKeeper(this.simulation::await);

	private final List<RealZooKeeperClient> clients = new ArrayList<>();

	private final List<String> nodes = new ArrayList<>(List.of(ROOT, ROOT + "/a", ROOT + "/b", MISSING));

	ModelZooKeeperTests() {
		for (int i = 0; i <= CLIENTS; i++) {
			RealZooKeeperClient client = new RealZooKeeperClient(this.server);
			this.clients.add(client);
			this.real.add(client.calls());
			this.simulation.process(i, this.model);
			this.modelled.add(this.model.latestClient());
		}
	}

	@AfterEach
	void close() {
		this.clients.forEach(RealZooKeeperClient::close);
		this.server.close();
	}

	@Test
	void modelAnswersAsZooKeeperDoes() throws Exception {
		// the server does not remove a wait queue in which a client keeps a node
		compare(CLIENTS, (client) -> client.create(ROOT + "/a/x-", ""));
		compare(CLIENTS, (client) -> client.create(ROOT + "/b/x-", ""));
		for (int i = 0; i < STEPS; i++) {
			step(this.random.nextInt(CLIENTS));
		}
	}

	@Test
	void modelForgetsTheNumbersOfARemovedQueue() {
		create(0, ROOT + "/a/x-");
		compare(0, (client) -> client.delete(ROOT + "/a/x-0000000000"));
		Awaitility.await()
			.atMost(BOUND)
			.until(() -> this.real.describe(0, (client) -> client.children(ROOT + "/a")), "NONODE"::equals);
		this.model.tree().reap();
		compare(0, (client) -> client.children(ROOT + "/a"));
		create(0, ROOT + "/a/x-");
	}

	private void step(int client) throws Exception {
		if (this.random.nextInt(RARELY) == 0) {
			interrupt(client);
			return;
		}
		String node = this.nodes.get(this.random.nextInt(this.nodes.size()));
		String queue = ROOT + "/" + (char) ('a' + this.random.nextInt(2));
		int kind = this.random.nextInt(11);
		switch (kind) {
			case 0, 1 -> create(client, queue + "/x-");
			case 2 -> createAndRead(client, queue);
			case 3 -> compare(client, (calls) -> calls.stat(node));
			case 4 -> compare(client, (calls) -> calls.check(node));
			case 5 -> compare(client, (calls) -> calls.children(node));
			case 6 -> compare(client, (calls) -> calls.delete(node));
			case 7 -> compare(client, (calls) -> calls.sync(node));
			case 8 -> assertSame(this.real.watch(client, node), this.modelled.watch(client, node), "watch " + node);
			case 9 -> assertSame(this.real.watchChildren(client, node), this.modelled.watchChildren(client, node),
					"watch children of " + node);
			default -> cancelWatch(client, this.random.nextInt());
		}
		// notifications arrive before the responses to later requests
		for (int i = 0; i < CLIENTS; i++) {
			compare(i, (calls) -> calls.children(queue));
			assertSame(this.real.fired(i), this.modelled.fired(i), "watches that fired after " + kind + " " + node);
		}
	}

	private void create(int client, String prefix) {
		this.nodes.add(compare(client, (calls) -> calls.create(prefix, "")).replaceAll(" .*", ""));
	}

	/** Sends a request directly after another one, whose effect it must see. */
	private void createAndRead(int client, String queue) {
		Function<ZooKeeperCalls, CompletableFuture<?>> both = (calls) -> {
			CompletableFuture<?> created = calls.create(queue + "/s-", "");
			CompletableFuture<?> read = calls.children(queue);
			return created.thenCompose((done) -> read);
		};
		compare(client, both);
	}

	private void cancelWatch(int client, int which) {
		this.real.cancelWatch(client, which);
		this.modelled.cancelWatch(client, which);
	}

	private void interrupt(int client) throws Exception {
		boolean forGood = this.random.nextBoolean();
		SimulatedZooKeeperClient simulated = (SimulatedZooKeeperClient) this.modelled.calls(client);
		if (forGood) {
			this.model.endSession(simulated.session());
			this.clients.get(client).endSession();
		}
		else {
			simulated.breakConnection();
			this.clients.get(client).breakConnection();
		}
		assertSame(this.real.interruption(client), this.modelled.interruption(client), "interruption " + forGood);
		compare(client, (calls) -> calls.sync(ROOT));
		// a new session's responses arrive on another thread than the events of the
		// former one
		Awaitility.await("watches that fired at an interruption")
			.atMost(BOUND)
			.untilAsserted(() -> assertSame(this.real.fired(client), this.modelled.fired(client), "watches"));
		// remaining watches can fire once more
		this.real.forgetFired(client);
		this.modelled.forgetFired(client);
	}

	private String compare(int client, Function<ZooKeeperCalls, CompletableFuture<?>> request) {
		String answer = this.real.describe(client, request);
		assertSame(answer, this.modelled.describe(client, request), "answer");
		return answer;
	}

	private static void assertSame(Object real, Object modelled, String what) {
		assertThat(modelled).as(what).isEqualTo(real);
	}

}
