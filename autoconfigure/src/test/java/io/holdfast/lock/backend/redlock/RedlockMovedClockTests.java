package io.holdfast.lock.backend.redlock;

import java.time.Duration;

import org.junit.jupiter.api.AfterAll;

import io.holdfast.lock.backend.MovedClockContract;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.test.server.RedisServer;

/**
 * Three masters whose clocks are all moved.
 */
class RedlockMovedClockTests extends MovedClockContract {

	private final TestNodes nodes = TestNodes.fresh(3);

	private final RedlockLockBackend first;

	private final RedlockLockBackend second;

	RedlockMovedClockTests() {
		this.nodes.each((node) -> {
			node.ownWallClock();
			node.restart();
			TestNodes.admit(node);
		});
		this.first = client();
		this.second = client();
	}

	private RedlockLockBackend client() {
		return TestNodes.started(this.nodes.all().stream().map(RedisServer::port).toList(),
				TestNodes.options(Duration.ofMillis(450), Duration.ofSeconds(30)));
	}

	@AfterAll
	void closeAll() {
		this.first.close();
		this.second.close();
		this.nodes.close();
	}

	@Override
	protected LockBackend first() {
		return this.first;
	}

	@Override
	protected LockBackend second() {
		return this.second;
	}

	@Override
	protected void moveClock(Duration fromNow) {
		this.nodes.each((node) -> node.moveWallClock(fromNow));
	}

}
