package io.holdfast.lock.autoconfigure;

import io.holdfast.lock.backend.redis.ScriptClient;

/**
 * Redis client that locks use, and the source of its address.
 *
 * @param client the client
 * @param server the server, without credentials, as messages name it
 * @param source the source of the address, as messages name it
 */
record RedisClient(ScriptClient client, String server, String source) {

}
