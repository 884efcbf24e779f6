package io.holdfast.lock.autoconfigure;

import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;

/**
 * Matches where somebody has said that locks are kept in a database. A database that the
 * application has says nothing.
 */
final class OnJdbcConfiguredCondition extends AnyNestedCondition {

	OnJdbcConfiguredCondition() {
		super(ConfigurationPhase.REGISTER_BEAN);
	}

	@ConditionalOnProperty(name = "distributed-lock.backend", havingValue = "jdbc")
	static final class ChosenAsDefault {

	}

	@ConditionalOnProperty("distributed-lock.jdbc.table")
	static final class TableSet {

	}

	@ConditionalOnProperty("distributed-lock.jdbc.data-source")
	static final class DataSourceSet {

	}

}
