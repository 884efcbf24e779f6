package io.holdfast.lock.backend.redis;

/**
 * The contract of the Redis backend with Lettuce.
 */
class LettuceContractTests extends RedisLockBackendContractTests {

	@Override
	RedisLibrary library() {
		return RedisLibrary.LETTUCE;
	}

}
