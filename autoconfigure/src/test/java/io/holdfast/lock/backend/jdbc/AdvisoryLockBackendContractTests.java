package io.holdfast.lock.backend.jdbc;

import java.util.Collection;
import java.util.Map;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AfterAll;

import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.test.contract.Ability;
import io.holdfast.lock.test.contract.LockBackendContract;
import io.holdfast.lock.test.contract.StoreFaults;
import io.holdfast.lock.test.server.ServerFaults;
import io.holdfast.lock.test.server.TcpProxy;

/**
 * Contract tests of the mode {@code advisory}. {@link AdvisorySessionTests} has those for
 * the abilities that it lacks.
 */
class AdvisoryLockBackendContractTests extends LockBackendContract {

	private final AdvisoryFixture postgres = new AdvisoryFixture();

	private final TcpProxy firstWire = TcpProxy.to(this.postgres.server.port());

	private final TcpProxy secondWire = TcpProxy.to(this.postgres.server.port());

	private final HikariDataSource firstPool = pool(this.firstWire);

	private final HikariDataSource secondPool = pool(this.secondWire);

	private final LockBackend first = this.postgres.backend(this.firstPool);

	private final LockBackend second = this.postgres.backend(this.secondPool);

	private HikariDataSource pool(TcpProxy wire) {
		HikariDataSource pool = this.postgres.pool(40, wire.port());
		pool.setConnectionTimeout(2_000);
		return pool;
	}

	@AfterAll
	void close() throws Exception {
		this.postgres.close();
		this.firstWire.close();
		this.secondWire.close();
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
		return this.postgres.locks();
	}

	@Override
	protected Map<Ability, String> lacks() {
		return Map.of(Ability.DEMAND, "its instances send each other no messages", Ability.FAIR,
				"a claim enters the queue of the server only after its rejection", Ability.RETAIN,
				"a lock lives with the session of its client", Ability.CUT_CONNECTION,
				"a lock is released when its connection breaks", Ability.LOST_REPLY,
				"a connection that may have the lock is closed, which releases it", Ability.KILLED_SESSION,
				"the driver does not report the end of a session before its next use");
	}

	@Override
	protected StoreFaults faults() {
		return new ServerFaults(this.postgres.server, "Acquires the advisory lock", this.firstWire, this.secondWire) {

			@Override
			public void restart() {
				super.restart();
				AdvisoryLockBackendContractTests.this.firstPool.getHikariPoolMXBean().softEvictConnections();
				AdvisoryLockBackendContractTests.this.secondPool.getHikariPoolMXBean().softEvictConnections();
			}

		};
	}

}
