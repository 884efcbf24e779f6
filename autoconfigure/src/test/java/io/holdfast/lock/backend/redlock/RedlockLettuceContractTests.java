package io.holdfast.lock.backend.redlock;

import io.holdfast.lock.backend.redis.RedisLibrary;
import io.holdfast.lock.test.Slow;

/**
 * The contract of the Redlock backend with Lettuce.
 */
@Slow
class RedlockLettuceContractTests extends RedlockLockBackendContractTests {

	@Override
	RedisLibrary library() {
		return RedisLibrary.LETTUCE;
	}

}
