package io.holdfast.lock.test.server;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.time.Duration;
import java.time.Instant;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.test.Slow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/**
 * Tests that wall clocks can be moved. Otherwise, a test of clock faults could pass
 * although the clock was never moved.
 */
@Slow
class WallClockTests {

	private static final Duration FAR = Duration.ofHours(3);

	@Test
	void clockOfRedisMovesBothWaysWhileItRuns() {
		try (RedisServer redis = RedisServer.started()) {
			redis.ownWallClock();
			redis.restart();
			for (Duration offset : new Duration[] { Duration.ZERO, FAR, FAR.negated(), Duration.ZERO }) {
				redis.moveWallClock(offset);
				assertShows(Instant.ofEpochSecond(Long.parseLong(redis.ask("time").lines().findFirst().orElseThrow())),
						offset);
			}
		}
	}

	@Test
	void clockOfPostgresMovesWhileItRuns() throws Exception {
		try (PostgresServer postgres = PostgresServer.started()) {
			postgres.ownWallClock();
			postgres.restart();
			try (Connection connection = DriverManager.getConnection(postgres.jdbcUrl())) {
				for (Duration offset : new Duration[] { FAR, FAR.negated(), Duration.ZERO }) {
					postgres.moveWallClock(offset);
					try (ResultSet now = connection.createStatement().executeQuery("select clock_timestamp()")) {
						now.next();
						assertShows(now.getTimestamp(1).toInstant(), offset);
					}
				}
			}
		}
	}

	private static void assertShows(Instant shown, Duration offset) {
		assertThat(shown).isCloseTo(Instant.now().plus(offset), within(Duration.ofMinutes(5)));
	}

}
