package io.holdfast.lock.test.contract;

import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.Grant;

/**
 * Cases that verify that any text can be a key, and that different names are different
 * locks.
 */
interface NameCases {

	@ParameterizedTest
	@EnumSource
	default void anyTextIsAValidKey(OddKey key, Bench bench) throws Exception {
		LockName lock = LockName.of("contract", key.text());
		Grant grant = bench.acquire(bench.first(), Claims.exclusive(lock));
		bench.assertContended(bench.second(), Claims.exclusive(lock));
		bench.assertReleased(bench.first(), grant);
		// on a busy machine, a node of Redlock may still know the first grant
		bench.assertReleased(bench.second(), bench.acquireSoon(bench.second(), Claims.exclusive(lock)));
	}

	@Test
	default void locksThatDifferAreIndependent(Bench bench) throws Exception {
		List<LockName> locks = new ArrayList<>();
		for (String key : OddKey.alike(UUID.randomUUID().toString())) {
			locks.add(LockName.of("contract", key));
		}
		locks.add(LockName.of("contract"));
		locks.add(LockName.of("contract", "contract"));
		locks.add(LockName.of("other", "contract"));
		List<Grant> grants = new ArrayList<>();
		for (LockName lock : locks) {
			grants.add(bench.acquire(bench.first(), Claims.exclusive(lock)));
		}
		for (Grant grant : grants) {
			bench.assertReleased(bench.first(), grant);
		}
	}

}
