package io.holdfast.lock.autoconfigure;

import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;

/**
 * Matches where somebody has said that locks are kept in ZooKeeper. A client that the
 * application has, for its configuration or for discovery, says nothing.
 */
final class OnZooKeeperConfiguredCondition extends AnyNestedCondition {

	OnZooKeeperConfiguredCondition() {
		super(ConfigurationPhase.REGISTER_BEAN);
	}

	@ConditionalOnProperty(name = "distributed-lock.backend", havingValue = "zookeeper")
	static final class ChosenAsDefault {

	}

	@ConditionalOnProperty("distributed-lock.zookeeper.base-path")
	static final class PathSet {

	}

}
