package io.holdfast.lock.backend.redlock;

import io.holdfast.lock.backend.redis.RedisLibrary;

/**
 * The contract of the Redlock backend with Lettuce.
 */
class RedlockLettuceContractTests extends RedlockLockBackendContractTests {

	@Override
	RedisLibrary library() {
		return RedisLibrary.LETTUCE;
	}

}
