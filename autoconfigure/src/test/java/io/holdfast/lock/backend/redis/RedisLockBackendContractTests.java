package io.holdfast.lock.backend.redis;

import java.util.Collection;
import java.util.Map;

import org.junit.jupiter.api.AfterAll;

import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.test.contract.Ability;
import io.holdfast.lock.test.contract.LockBackendContract;
import io.holdfast.lock.test.contract.StoreFaults;
import io.holdfast.lock.test.server.RedisServer;
import io.holdfast.lock.test.server.ServerFaults;
import io.holdfast.lock.test.server.TcpProxy;

class RedisLockBackendContractTests extends LockBackendContract {

	private final RedisServer server = RedisServer.started();

	private final TcpProxy firstWire = TcpProxy.to(this.server.port());

	private final TcpProxy secondWire = TcpProxy.to(this.server.port());

	private final RedisLockBackend first = TestRedis.backend("redis://127.0.0.1:" + this.firstWire.port());

	private final RedisLockBackend second = TestRedis.backend("redis://127.0.0.1:" + this.secondWire.port());

	@AfterAll
	void closeAll() {
		this.first.close();
		this.second.close();
		this.firstWire.close();
		this.secondWire.close();
		this.server.close();
	}

	@Override
	protected LockBackend backend() {
		return this.first;
	}

	@Override
	protected LockBackend secondClient() {
		return this.second;
	}

	@Override
	protected Collection<String> leftovers() {
		return this.server.keys("*").stream().filter((key) -> !key.endsWith("}:token")).toList();
	}

	@Override
	protected Map<Ability, String> lacks() {
		return Map.of(Ability.KILLED_SESSION, "a grant is tied to no session");
	}

	@Override
	protected StoreFaults faults() {
		return new ServerFaults(this.server, "}:lock", this.firstWire, this.secondWire);
	}

}
