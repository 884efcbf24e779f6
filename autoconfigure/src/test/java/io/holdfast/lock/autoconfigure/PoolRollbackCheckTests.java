package io.holdfast.lock.autoconfigure;

import java.sql.Connection;
import java.sql.SQLException;

import javax.sql.DataSource;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.test.server.MariaDbServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for pools that leave the transaction of a returned connection open. The pool of
 * these tests has the settings of those of Tomcat and DBCP2.
 */
class PoolRollbackCheckTests {

	@AutoClose
	private static final MariaDbServer mariaDb = MariaDbServer.started();

	private static final String READ_COMMITTED = "?sessionVariables=tx_isolation='READ-COMMITTED'";

	private static ApplicationContextRunner runner(DataSource dataSource) {
		return new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(LockTransactionAutoConfiguration.class))
			.withBean("shop", DataSource.class, () -> dataSource);
	}

	private static void assertRefused(DataSource dataSource, String isolation) {
		runner(dataSource).run((context) -> assertThat(context).getFailure()
			.rootCause()
			.isInstanceOf(LockConfigurationException.class)
			.hasMessageContainingAll("'shop' is without auto-commit", isolation, "Set 'rollbackOnReturn=true'"));
	}

	@Test
	void snapshotThatAReadLeavesOpenStopsTheStart() {
		assertRefused(new Pool(mariaDb.jdbcUrl(), false, null), "is REPEATABLE READ or stricter");
	}

	@Test
	void poolBehindAProxyStopsTheStart() {
		assertRefused(new TransactionAwareDataSourceProxy(new Pool(mariaDb.jdbcUrl(), false, null)),
				"is REPEATABLE READ or stricter");
	}

	@Test
	void poolWhoseIsolationCannotBeReadStopsTheStart() {
		assertRefused(new Pool(mariaDb.jdbcUrl() + "_missing", false, null), "cannot be read (");
	}

	@Test
	void statementsThatReadWhatIsCommittedNeedNoRollback() {
		runner(new Pool(mariaDb.jdbcUrl() + READ_COMMITTED, false, null))
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@ParameterizedTest
	@EnumSource
	void poolThatEndsTransactionsIsAccepted(End end) {
		runner(new Pool(mariaDb.jdbcUrl(), false, end)).run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void poolWithAutoCommitNeedsNoRollback() {
		runner(new Pool(mariaDb.jdbcUrl(), true, null)).run((context) -> assertThat(context).hasNotFailed());
	}

	enum End {

		ROLLBACK, COMMIT, AUTO_COMMIT

	}

	static final class Pool extends DriverManagerDataSource {

		private final boolean autoCommit;

		private final End end;

		Pool(String url, boolean autoCommit, End end) {
			super(url, MariaDbServer.USERNAME, MariaDbServer.PASSWORD);
			this.autoCommit = autoCommit;
			this.end = end;
		}

		@Override
		public Connection getConnection() throws SQLException {
			Connection connection = super.getConnection();
			connection.setAutoCommit(this.autoCommit);
			return connection;
		}

		public Boolean getDefaultAutoCommit() {
			return this.autoCommit;
		}

		public boolean isRollbackOnReturn() {
			return this.end == End.ROLLBACK;
		}

		public boolean isCommitOnReturn() {
			return this.end == End.COMMIT;
		}

		public boolean isAutoCommitOnReturn() {
			return this.end == End.AUTO_COMMIT;
		}

	}

}
