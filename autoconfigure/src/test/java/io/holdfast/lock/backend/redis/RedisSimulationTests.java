package io.holdfast.lock.backend.redis;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.test.simulation.Mutant;
import io.holdfast.lock.test.simulation.Simulations;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Runs the engine and the Redis backend on a model of Redis, with many seeds.
 */
class RedisSimulationTests {

	private static final int SEEDS = 20_000;

	@Test
	void redisKeepsItsPromises() {
		Simulations.of("redis", RedisStore::new).run(300);
	}

	/** The mutant keeps a claim that has ended registered for release notifications. */
	@Test
	void claimThatIsNotForgottenIsFound() {
		Mutant mutant = new Mutant().skip("backend.redis.ReleaseNotifications#forget");
		assertThat(mutant.find(RedisStore.class, SEEDS, "leftovers")).isPositive();
	}

}
