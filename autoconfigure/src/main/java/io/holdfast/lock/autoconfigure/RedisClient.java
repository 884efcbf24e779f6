package io.holdfast.lock.autoconfigure;

import org.redisson.api.RedissonClient;

/**
 * The client that locks use, and where it comes from.
 *
 * @param client the client
 * @param owned whether it was made for locks alone and must be shut down with them
 * @param server the server, without credentials, as messages name it
 * @param source where the address comes from, as messages name it
 */
record RedisClient(RedissonClient client, boolean owned, String server, String source) {

}
