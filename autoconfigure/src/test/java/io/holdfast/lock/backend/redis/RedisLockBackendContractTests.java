package io.holdfast.lock.backend.redis;

import java.util.Collection;
import java.util.Map;

import io.holdfast.lock.backend.SingleServerContract;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.test.contract.Ability;
import io.holdfast.lock.test.server.RedisServer;

class RedisLockBackendContractTests extends SingleServerContract<RedisServer> {

	RedisLockBackendContractTests() {
		super(RedisServer.started(), "}:lock");
	}

	RedisLibrary library() {
		return RedisLibrary.REDISSON;
	}

	@Override
	protected LockBackend connect(int port) {
		return track(library().backend("redis://127.0.0.1:" + port, TestRedis.options(0)));
	}

	@Override
	protected Collection<String> leftovers() {
		return this.server.keys("*").stream().filter((key) -> !key.endsWith("}:token")).toList();
	}

	@Override
	protected Map<Ability, String> lacks() {
		return Map.of(Ability.KILLED_SESSION, "a grant is tied to no session");
	}

}
