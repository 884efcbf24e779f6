package io.holdfast.lock.backend.redis;

import java.time.Duration;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockName;
import io.holdfast.lock.backend.MovedClockContract;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.test.server.RedisServer;

import static io.holdfast.lock.backend.Verbs.claim;
import static io.holdfast.lock.backend.Verbs.released;
import static io.holdfast.lock.backend.Verbs.soonGranted;
import static org.assertj.core.api.Assertions.assertThat;

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
		return RedisLibrary.REDISSON.backend(this.server.address());
	}

	@Override
	protected void moveClock(Duration fromNow) {
		this.server.moveWallClock(fromNow);
	}

	@Test
	void tokenFromAClockThatWasFarAheadIsRemembered() throws Exception {
		LockName lock = LockName.of("moved-clock", "far-ahead");
		moveClock(Duration.ofDays(3));
		released(first(), soonGranted(first(), claim(lock)));
		moveClock(Duration.ZERO);
		Grant before = soonGranted(first(), claim(lock));
		released(first(), before);
		moveClock(Duration.ofDays(1).plusSeconds(1));
		Grant after = soonGranted(first(), claim(lock));
		assertThat(after.storeToken()).isGreaterThan(before.storeToken());
		released(first(), after);
	}

}
