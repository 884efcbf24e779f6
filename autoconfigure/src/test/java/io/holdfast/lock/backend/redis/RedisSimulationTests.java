package io.holdfast.lock.backend.redis;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.test.simulation.Mutant;
import io.holdfast.lock.test.simulation.Simulations;
import io.holdfast.lock.test.simulation.Workload;

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

	@Test
	void redisKeepsItsPromisesWhileLeasesStayWithoutHolds() {
		Simulations.of("sticky redis", RedisStore::new, Workload.STICKY).run(200);
	}

	/** The mutant counts the validity of a kept lock from when the news arrives. */
	@Test
	void newsWhoseAgeIsIgnoredIsFound() {
		Mutant mutant = new Mutant().answer("engine.Validity#isRecent", true)
			.replace("backend.redis.ReleaseNotice#micros", RedisSimulationTests.class, "future")
			.likelyAt(450);
		assertThat(mutant.find(RedisStore.class, Workload.PAUSED_WAITERS, SEEDS, "exclusion")).isPositive();
	}

	/** Replaces the time of a release with one that no attempt can reach. */
	static long future(ReleaseNotice notice) {
		return Long.MAX_VALUE / 4000;
	}

	/** The mutant drops the demands of other processes. */
	@Test
	void demandThatIsDroppedIsFound() {
		Mutant mutant = new Mutant().skip("backend.redis.LeaseDemands#demand");
		assertThat(mutant.find(RedisStore.class, Workload.STICKY, SEEDS, "idle")).isPositive();
	}

	/** The mutant keeps the signal of a sticky lease that has ended. */
	@Test
	void demandThatIsNotForgottenIsFound() {
		Mutant mutant = new Mutant().replace("backend.redis.ReleaseNotifications#forgetAll", "forget");
		assertThat(mutant.find(RedisStore.class, Workload.STICKY, SEEDS, "leftovers")).isPositive();
	}

	/** The mutant keeps a claim that has ended registered for release notifications. */
	@Test
	void claimThatIsNotForgottenIsFound() {
		Mutant mutant = new Mutant().skip("backend.redis.ReleaseNotifications#forget");
		assertThat(mutant.find(RedisStore.class, SEEDS, "leftovers")).isPositive();
	}

}
