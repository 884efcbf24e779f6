package io.holdfast.lock.backend.redis;

import java.time.Duration;

import org.junit.jupiter.api.AutoClose;

import io.holdfast.lock.backend.MovedClockContract;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.test.server.RedisServer;

/**
 * Tests for a Redis server whose clock moves.
 */
class RedisMovedClockTests extends MovedClockContract {

	@AutoClose
	private final RedisServer server = RedisServer.started();

	RedisMovedClockTests() {
		this.server.ownWallClock();
		this.server.restart();
	}

	@Override
	protected LockBackend connect() {
		return TestRedis.backend(this.server.address());
	}

	@Override
	protected void moveClock(Duration fromNow) {
		this.server.moveWallClock(fromNow);
	}

}
