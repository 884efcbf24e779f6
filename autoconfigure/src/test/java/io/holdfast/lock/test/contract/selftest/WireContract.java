package io.holdfast.lock.test.contract.selftest;

import java.time.Duration;
import java.util.Collection;
import java.util.function.Function;

import org.junit.jupiter.api.BeforeEach;

import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.test.contract.LockBackendContract;
import io.holdfast.lock.test.contract.StoreFaults;

/**
 * The contract with two clients of one server, and with every fault that the contract
 * supports.
 */
abstract class WireContract extends LockBackendContract implements StoreFaults {

	private final Server server = new Server();

	private final Wire first;

	private final Wire second;

	WireContract(Function<Server, Wire> wire) {
		this.first = wire.apply(this.server);
		this.second = wire.apply(this.server);
	}

	/** A failed case may leave a fault that no request has met yet. */
	@BeforeEach
	void restoreReplies() {
		this.first.restoreReplies();
		this.second.restoreReplies();
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
		return this.server.store().inUse().stream().map(LockName::toString).toList();
	}

	@Override
	protected Duration shortLease() {
		return Duration.ofMillis(300);
	}

	@Override
	protected Duration bound() {
		return Duration.ofSeconds(1);
	}

	@Override
	protected StoreFaults faults() {
		return this;
	}

	@Override
	public void loseNextReply() {
		this.first.loseNextReply();
	}

	/** Drops the next response of each client. */
	@Override
	public void cutConnections() {
		this.first.loseNextReply();
		this.second.loseNextReply();
	}

	@Override
	public void restart() {
		this.server.restart();
	}

	@Override
	public void pause() {
		this.first.stopReplying();
		this.second.stopReplying();
	}

	@Override
	public void resume() {
		restoreReplies();
	}

	@Override
	public void killSession() {
		this.first.killSession();
	}

}
