package io.holdfast.lock.autoconfigure;

import org.redisson.api.RedissonClient;

/**
 * Redis client that locks use, and the source of its address.
 *
 * @param client the client
 * @param owned whether it was created for locks alone and must be shut down with them
 * @param server the server, without credentials, as messages name it
 * @param source the source of the address, as messages name it
 */
record RedisClient(RedissonClient client, boolean owned, String server, String source) {

}
