package io.holdfast.lock.backend.redlock;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;

import io.holdfast.lock.backend.redis.RedisLibrary;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.test.contract.Ability;
import io.holdfast.lock.test.contract.LockBackendContract;
import io.holdfast.lock.test.contract.StoreFaults;
import io.holdfast.lock.test.server.RedisServer;
import io.holdfast.lock.test.server.TcpProxy;

class RedlockLockBackendContractTests extends LockBackendContract {

	/** Generous timeouts, because a busy machine must not affect the result. */
	private static final RedlockLockOptions OPTIONS = TestNodes.options(Duration.ofMillis(800), Duration.ofSeconds(30));

	private final TestNodes nodes = TestNodes.admitted(5);

	private final List<TcpProxy> firstWires = wires();

	private final List<TcpProxy> secondWires = wires();

	private final RedlockLockBackend first = client(this.firstWires);

	private final RedlockLockBackend second = client(this.secondWires);

	private List<TcpProxy> wires() {
		return this.nodes.all().stream().map((server) -> TcpProxy.to(server.port())).toList();
	}

	RedisLibrary library() {
		return RedisLibrary.REDISSON;
	}

	private RedlockLockBackend client(List<TcpProxy> wires) {
		return TestNodes.started(library(), wires.stream().map(TcpProxy::port).toList(), OPTIONS);
	}

	/**
	 * Admits restarted nodes as an operator may, because no lock is held between tests.
	 */
	@BeforeEach
	void admitWhatRestarted() {
		this.nodes.each(TestNodes::admit);
	}

	@AfterAll
	void closeAll() {
		this.first.close();
		this.second.close();
		this.firstWires.forEach(TcpProxy::close);
		this.secondWires.forEach(TcpProxy::close);
		this.nodes.close();
	}

	/** Returns a lease far above the node timeout, as the backend requires. */
	@Override
	protected Duration shortLease() {
		return Duration.ofSeconds(2);
	}

	@Override
	protected LockBackend backend() {
		return this.first;
	}

	@Override
	protected LockBackend secondClient() {
		return this.second;
	}

	/**
	 * Waits for the requests under way. A node that the majority did not wait for may
	 * still receive the last attempt. The keys that it then keeps must not appear later
	 * as new ones. A key on a minority does not count: such a node may respond too late,
	 * or receive an attempt after the renewal that follows it, and then keeps its part
	 * until the lease expires. This excludes no one.
	 */
	@Override
	protected Collection<String> leftovers() {
		Awaitility.await()
			.pollDelay(Duration.ZERO)
			.pollInterval(Duration.ofMillis(5))
			.until(() -> this.first.underWay() + this.second.underWay() == 0);
		Map<String, Long> nodesOfEachKey = this.nodes.all()
			.stream()
			.flatMap((node) -> node.keys("*").stream())
			.filter((key) -> !key.endsWith("}:part-token") && !key.equals("test:redlock"))
			.collect(Collectors.groupingBy(Function.identity(), Collectors.counting()));
		return nodesOfEachKey.entrySet()
			.stream()
			.filter((entry) -> entry.getValue() > this.nodes.all().size() / 2)
			.map((entry) -> entry.getKey() + " on " + entry.getValue() + " nodes")
			.toList();
	}

	@Override
	protected Map<Ability, String> lacks() {
		return Map.of(Ability.UNDIVIDED_VOTE,
				"claims of the same moment may split the votes, and all of them come again", Ability.FAIR,
				"independent masters have no common wait queue", Ability.KILLED_SESSION,
				"a grant is tied to no session");
	}

	@Override
	protected StoreFaults faults() {
		return new StoreFaults() {

			/**
			 * Loses as many replies as the store tolerates. If all replies are lost, the
			 * backend undoes the attempt.
			 */
			@Override
			public void loseNextReply() {
				firstWires.subList(0, 2).forEach((wire) -> wire.loseNextReplyTo("}:part"));
			}

			@Override
			public void cutConnections() {
				Stream.concat(firstWires.stream(), secondWires.stream()).forEach(TcpProxy::cut);
			}

			/**
			 * Restarts as many nodes as the store tolerates at once, because restarted
			 * nodes do not vote for a while.
			 */
			@Override
			public void restart() {
				for (RedisServer node : nodes.all().subList(3, 5)) {
					node.kill();
					node.start();
				}
			}

			@Override
			public void pause() {
				nodes.each(RedisServer::pause);
			}

			@Override
			public void resume() {
				nodes.each(RedisServer::resume);
			}

		};
	}

}
