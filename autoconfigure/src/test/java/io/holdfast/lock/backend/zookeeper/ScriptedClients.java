package io.holdfast.lock.backend.zookeeper;

import java.time.Duration;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.OwnerId;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A backend whose requests a test can hold, and another client of the same model of
 * ZooKeeper.
 */
abstract class ScriptedClients {

	static final LockName LOCK = LockName.of("stock", "42");

	final ModelTree server = new ModelTree();

	final ScriptedZooKeeper calls = new ScriptedZooKeeper(this.server, 1);

	final ZooKeeperLockBackend store = this.calls.backend();

	final ZooKeeperLockBackend other = new ScriptedZooKeeper(this.server, 2).backend();

	static Claim shared() {
		return new Claim(LOCK, OwnerId.random(), LockMode.SHARED, Duration.ofMinutes(1), true, Duration.ofMinutes(1),
				false);
	}

	void assertNothingLeft() {
		assertThat(this.server.paths()).as("nodes").isEmpty();
		assertThat(this.server.watches()).as("watches").isZero();
		assertThat(this.store.remembered()).as("claims").isZero();
	}

}
