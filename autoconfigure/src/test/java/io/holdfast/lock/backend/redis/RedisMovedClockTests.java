package io.holdfast.lock.backend.redis;

import java.time.Duration;

import org.junit.jupiter.api.AfterAll;

import io.holdfast.lock.backend.MovedClockContract;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.test.server.RedisServer;

/**
 * Tests for a Redis server whose clock moves.
 */
class RedisMovedClockTests extends MovedClockContract {

	private final RedisServer server = RedisServer.started();

	private final RedisLockBackend first;

	private final RedisLockBackend second;

	RedisMovedClockTests() {
		this.server.ownWallClock();
		this.server.restart();
		this.first = TestRedis.backend(this.server.address());
		this.second = TestRedis.backend(this.server.address());
	}

	@AfterAll
	void closeAll() {
		this.first.close();
		this.second.close();
		this.server.close();
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
		this.server.moveWallClock(fromNow);
	}

}
