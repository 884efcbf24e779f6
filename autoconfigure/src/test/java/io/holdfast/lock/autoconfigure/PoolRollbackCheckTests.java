package io.holdfast.lock.autoconfigure;

import java.sql.Connection;
import java.util.Map;

import javax.sql.DataSource;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.mockito.Mockito;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

import io.holdfast.lock.LockConfigurationException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for pools that leave the transaction of a returned connection open. The pool of
 * these tests has the settings of those of Tomcat and DBCP2, and no database.
 */
class PoolRollbackCheckTests {

	private static final int UNKNOWN = -1;

	private static ApplicationContextRunner runner(DataSource dataSource) {
		return new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(LockTransactionAutoConfiguration.class))
			.withBean("shop", DataSource.class, () -> dataSource);
	}

	private static void assertRefused(DataSource dataSource) {
		runner(dataSource).run((context) -> assertThat(context).getFailure()
			.rootCause()
			.isInstanceOf(LockConfigurationException.class)
			.hasMessageContainingAll("'shop' is without auto-commit", "Set 'rollbackOnReturn=true'"));
	}

	private static void assertAccepted(DataSource dataSource) {
		runner(dataSource).run((context) -> assertThat(context).hasNotFailed());
	}

	@ParameterizedTest
	@ValueSource(ints = { UNKNOWN, Connection.TRANSACTION_REPEATABLE_READ, Connection.TRANSACTION_SERIALIZABLE })
	void snapshotThatAReadLeavesOpenStopsTheStart(int isolation) {
		assertRefused(new Pool(false, isolation, null));
	}

	@Test
	void poolBehindAProxyStopsTheStart() {
		assertRefused(new TransactionAwareDataSourceProxy(new Pool(false, UNKNOWN, null)));
	}

	/** They need not be beans. */
	@Test
	void poolBehindARoutingDataSourceStopsTheStart() {
		AbstractRoutingDataSource routing = new Routing();
		routing.setTargetDataSources(Map.of("a", new Pool(true, UNKNOWN, null), "b",
				new LazyConnectionDataSourceProxy(new Pool(false, UNKNOWN, null))));
		assertRefused(routing);
	}

	@Test
	void routingDataSourceIsAcceptedIfItsPoolsAre() {
		AbstractRoutingDataSource routing = new Routing();
		routing.setTargetDataSources(Map.of("a", new Pool(true, UNKNOWN, null)));
		routing.setDefaultTargetDataSource(new Pool(false, UNKNOWN, End.ROLLBACK));
		assertAccepted(routing);
		assertAccepted(new RoutingAtCall());
	}

	@Test
	void statementsThatReadWhatIsCommittedNeedNoRollback() {
		assertAccepted(new Pool(false, Connection.TRANSACTION_READ_COMMITTED, null));
	}

	@ParameterizedTest
	@EnumSource
	void poolThatEndsTransactionsIsAccepted(End end) {
		assertAccepted(new Pool(false, UNKNOWN, end));
	}

	@Test
	void poolWithAutoCommitNeedsNoRollback() {
		assertAccepted(new Pool(true, UNKNOWN, null));
	}

	@Test
	void poolThatATestReplacesIsAccepted() {
		assertAccepted(Mockito.mock(Pool.class));
	}

	enum End {

		ROLLBACK, COMMIT, AUTO_COMMIT

	}

	static class Routing extends AbstractRoutingDataSource {

		@Override
		protected Object determineCurrentLookupKey() {
			return "a";
		}

	}

	/**
	 * Finds its pools in each call.
	 */
	static class RoutingAtCall extends Routing {

		@Override
		public void afterPropertiesSet() {
		}

	}

	static class Pool extends AbstractDataSource {

		private final boolean autoCommit;

		private final int isolation;

		private final End end;

		Pool(boolean autoCommit, int isolation, End end) {
			this.autoCommit = autoCommit;
			this.isolation = isolation;
			this.end = end;
		}

		@Override
		public Connection getConnection() {
			throw new IllegalStateException("The database is not needed");
		}

		@Override
		public Connection getConnection(String username, String password) {
			return getConnection();
		}

		public Boolean getDefaultAutoCommit() {
			return this.autoCommit;
		}

		public int getDefaultTransactionIsolation() {
			return this.isolation;
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
