package io.holdfast.lock.fencing;

import java.sql.Connection;
import java.sql.Savepoint;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;

import javax.sql.DataSource;

import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.holdfast.lock.LockContext;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.StaleFencingTokenException;
import io.holdfast.lock.test.server.PostgresServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for the fences of several application contexts, such as one and its parent, which
 * fence different data sources under the same locks.
 */
class SeveralFencesTests {

	private final Fenced parent = new Fenced("jdbc:h2:mem:parent;DB_CLOSE_DELAY=-1");

	private void holding(Runnable action) {
		holding(TestHold.of("42", 10, "a"), action);
	}

	private void holding(LockHandle hold, Runnable action) {
		Runnable unbind = LockContext.bind(hold);
		try {
			action.run();
		}
		finally {
			unbind.run();
		}
	}

	@Test
	void staleHolderIsRefusedInTheOtherDatabase() {
		Fenced child = new Fenced("jdbc:h2:mem:child;DB_CLOSE_DELAY=-1");
		child.jdbc.update("INSERT INTO fence VALUES ('stock:42', 'stock:42', 20, 'successor')");
		holding(() -> this.parent.transaction
			.executeWithoutResult((outer) -> assertThatExceptionOfType(StaleFencingTokenException.class)
				.isThrownBy(() -> child.transaction.executeWithoutResult((inner) -> {
				}))));
	}

	/**
	 * What names the schema, or the database of SQL Server, is a parameter of the URL.
	 */
	@Test
	void staleHolderIsRefusedInTheOtherSchema() {
		this.parent.jdbc.execute("CREATE SCHEMA IF NOT EXISTS child");
		Fenced child = new Fenced("jdbc:h2:mem:parent;SCHEMA=CHILD");
		child.jdbc.update("INSERT INTO fence VALUES ('stock:42', 'stock:42', 20, 'successor')");
		holding(() -> this.parent.transaction
			.executeWithoutResult((outer) -> assertThatExceptionOfType(StaleFencingTokenException.class)
				.isThrownBy(() -> child.transaction.executeWithoutResult((inner) -> {
				}))));
	}

	/** The schema of the other user precedes the one in which both find the table. */
	@Test
	void innerTransactionDoesNotWaitForTheOuterOneOfAnotherUser() {
		try (PostgresServer postgres = PostgresServer.started()) {
			String url = postgres.jdbcUrl() + "&options=-c%20lock_timeout=3s";
			Fenced first = new Fenced(url);
			first.jdbc.execute("CREATE SCHEMA worker; CREATE ROLE worker SUPERUSER LOGIN");
			DataSource second = new DriverManagerDataSource(url.replaceAll("user=\\w+", "user=worker"));
			TransactionTemplate transaction = new TransactionTemplate(TestFence.manager(second, TestFence.of(second)));
			holding(() -> first.transaction
				.executeWithoutResult((outer) -> transaction.executeWithoutResult((inner) -> {
				})));
			JdbcTemplate jdbc = new JdbcTemplate(second);
			assertThat(jdbc.queryForObject("SELECT current_schema()", String.class)).isEqualTo("worker");
			assertThat(jdbc.queryForList("SELECT token FROM fence", Long.class)).containsExactly(10L);
		}
	}

	/** Such as for a tenant, in the same session. */
	@Test
	void innerTransactionDoesNotWaitIfTheOuterOneSwitchesItsSchema() {
		try (PostgresServer postgres = PostgresServer.started()) {
			Fenced fenced = new Fenced(postgres.jdbcUrl() + "&options=-c%20lock_timeout=3s");
			fenced.jdbc.execute("CREATE SCHEMA tenant; CREATE TABLE tenant.fence (LIKE fence INCLUDING ALL)");
			fenced.transaction.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
			holding(() -> fenced.transaction.executeWithoutResult((outer) -> {
				fenced.jdbc.execute("SET LOCAL search_path TO tenant");
				fenced.transaction.executeWithoutResult(
						(inner) -> assertThat(fenced.jdbc.queryForList("SELECT lock_id FROM fence", String.class))
							.isEmpty());
				fenced.transaction.executeWithoutResult((inner) -> {
				});
			}));
			assertThat(fenced.jdbc.queryForList("SELECT token FROM fence", Long.class)).containsExactly(10L);
		}
	}

	@Test
	void innerTransactionDoesNotWaitForTheOuterOneInTheSameDatabase() {
		Fenced child = new Fenced("jdbc:h2:mem:parent;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=100");
		holding(() -> this.parent.transaction.executeWithoutResult((outer) -> child.transaction.executeWithoutResult(
				(inner) -> assertThat(child.jdbc.queryForList("SELECT lock_id FROM fence", String.class)).isEmpty())));
		assertThat(this.parent.jdbc.queryForObject("SELECT token FROM fence", Long.class)).isEqualTo(10);
	}

	/** The contexts have different namespaces, so the same lock has different fences. */
	@Test
	void holdThatIsBoundToNoThreadPassesItsOwnFenceOnly() {
		DataSource dataSource = new DriverManagerDataSource("jdbc:h2:mem:siblings;DB_CLOSE_DELAY=-1");
		TestFence.clear(dataSource);
		TransactionFence own = fence(dataSource, "own:");
		DataSourceTransactionManager manager = TestFence.manager(dataSource, own);
		TransactionFence other = fence(dataSource, "other:");
		manager.addListener(new FenceListener(() -> other));
		new TransactionTemplate(manager).executeWithoutResult((status) -> own.advance(TestHold.of("42", 10, "a")));
		assertThat(new JdbcTemplate(dataSource).queryForList("SELECT lock_id FROM fence", String.class))
			.containsExactly("own:stock:42");
	}

	/** The stores of the contexts have the same name, so a lock has two holders. */
	@Test
	void holdOfTheOtherContextPassesItsOwnFence() {
		DataSource dataSource = new DriverManagerDataSource("jdbc:h2:mem:holders;DB_CLOSE_DELAY=-1");
		TestFence.clear(dataSource);
		LockHandle hold = TestHold.of("42", 10, "b");
		TransactionFence child = fence(dataSource, "fence", (own) -> "child:" + own.lock(), (own) -> own == hold);
		TransactionTemplate transaction = new TransactionTemplate(TestFence.manager(dataSource,
				fence(dataSource, "fence", (own) -> "parent:" + own.lock(), (own) -> own != hold)));
		holding(() -> transaction.executeWithoutResult((status) -> holding(hold, () -> child.beforeBody(null))));
		assertThat(new JdbcTemplate(dataSource).queryForList("SELECT lock_id FROM fence ORDER BY 1", String.class))
			.containsExactly("child:stock:42", "parent:stock:42");
	}

	@Test
	void innerTransactionDoesNotWaitForARowInTheOtherTable() {
		DataSource dataSource = new DriverManagerDataSource("jdbc:h2:mem:tables;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=100");
		TestFence.clear(dataSource);
		JdbcTemplate jdbc = new JdbcTemplate(dataSource);
		jdbc.execute(JdbcFencingGuard.schema("child_fence"));
		LockHandle hold = TestHold.of("43", 10, "b");
		TransactionFence child = fence(dataSource, "child_fence", (own) -> own.lock().toString(), (own) -> own == hold);
		TransactionTemplate transaction = new TransactionTemplate(TestFence.manager(dataSource,
				fence(dataSource, "fence", (own) -> own.lock().toString(), (own) -> own != hold)));
		transaction.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		holding(() -> transaction.executeWithoutResult((outer) -> holding(hold, () -> {
			child.beforeBody(null);
			transaction.executeWithoutResult((inner) -> child.beforeBody(null));
		})));
		assertThat(jdbc.queryForList("SELECT lock_id FROM child_fence", String.class)).containsExactly("stock:43");
	}

	/** A child context does not add the listener of its fence to the parent's manager. */
	@Test
	void unboundHoldPassesAgainInATransactionOfTheParent() {
		DataSource dataSource = new DriverManagerDataSource("jdbc:h2:mem:family;DB_CLOSE_DELAY=-1");
		TestFence.clear(dataSource);
		JdbcTemplate jdbc = new JdbcTemplate(dataSource);
		TransactionFence child = fence(dataSource, "child:");
		TransactionTemplate transaction = new TransactionTemplate(
				TestFence.manager(dataSource, fence(dataSource, "parent:")));
		assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> transaction.executeWithoutResult((status) -> {
				Savepoint savepoint = jdbc.execute((ConnectionCallback<Savepoint>) Connection::setSavepoint);
				child.advance(TestHold.of("42", 10, "a"));
				jdbc.execute((ConnectionCallback<Void>) (connection) -> {
					connection.rollback(savepoint);
					return null;
				});
				jdbc.update("INSERT INTO fence VALUES ('child:stock:42', 'stock:42', 20, 'successor')");
			}));
	}

	/** The inner one runs on another connection, and its fence has no listener. */
	@Test
	void staleHolderIsRefusedAgainInATransactionOfTheParent() {
		DataSource dataSource = new DriverManagerDataSource("jdbc:h2:mem:again;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=500");
		TestFence.clear(dataSource);
		new JdbcTemplate(dataSource).update("INSERT INTO fence VALUES ('stock:42', 'stock:42', 20, 'successor')");
		TransactionFence child = TestFence.of(dataSource);
		TransactionTemplate transaction = requiringNew(dataSource);
		holding(() -> transaction.executeWithoutResult((outer) -> {
			outer.setRollbackOnly();
			refused(child);
			transaction.executeWithoutResult((inner) -> {
				inner.setRollbackOnly();
				refused(child);
			});
		}));
	}

	/** The savepoint has freed the row, so the holder may have become stale. */
	@Test
	void holderPassesAgainInATransactionOfTheParentAfterASavepoint() {
		DataSource dataSource = new DriverManagerDataSource("jdbc:h2:mem:undone;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=500");
		TestFence.clear(dataSource);
		JdbcTemplate jdbc = new JdbcTemplate(dataSource);
		TransactionFence child = TestFence.of(dataSource);
		TransactionTemplate transaction = requiringNew(dataSource);
		TransactionTemplate nested = new TransactionTemplate(transaction.getTransactionManager());
		nested.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
		holding(() -> transaction.executeWithoutResult((outer) -> {
			outer.setRollbackOnly();
			nested.executeWithoutResult((status) -> {
				status.setRollbackOnly();
				child.beforeBody(null);
			});
			transaction.executeWithoutResult(
					(successor) -> jdbc.update("INSERT INTO fence VALUES ('stock:42', 'stock:42', 20, 'successor')"));
			transaction.executeWithoutResult((inner) -> {
				inner.setRollbackOnly();
				refused(child);
			});
		}));
	}

	private static void refused(TransactionFence fence) {
		assertThatExceptionOfType(StaleFencingTokenException.class).isThrownBy(() -> fence.beforeBody(null));
	}

	/** A child context does not add the listener of its fence to the parent's manager. */
	private static TransactionTemplate requiringNew(DataSource dataSource) {
		TransactionTemplate transaction = new TransactionTemplate(
				TestFence.manager(dataSource, fence(dataSource, "fence", Object::toString, (hold) -> false)));
		transaction.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		return transaction;
	}

	/** Their rows would be locked in an order that other transactions do not have. */
	@Test
	void boundAndUnboundHoldPassTogetherBeforeTheCommit() {
		List<String> statements = new ArrayList<>();
		DataSource dataSource = new ObservedStatements(
				new DriverManagerDataSource("jdbc:h2:mem:together;DB_CLOSE_DELAY=-1"), statements::add);
		TestFence.clear(dataSource);
		TransactionFence own = fence(dataSource, "");
		new TransactionTemplate(TestFence.manager(dataSource, own)).executeWithoutResult((status) -> {
			holdingUntilCompletion(TestHold.of("43", 10, "a"));
			own.beforeBody(null);
			own.advance(TestHold.of("42", 10, "a"));
			statements.clear();
		});
		assertThat(statements).hasSize(1);
	}

	private static void holdingUntilCompletion(LockHandle hold) {
		Runnable unbind = LockContext.bind(hold);
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public void afterCompletion(int status) {
				unbind.run();
			}

		});
	}

	private static TransactionFence fence(DataSource dataSource, String namespace) {
		return fence(dataSource, "fence", (hold) -> namespace + hold.lock(), (hold) -> true);
	}

	private static TransactionFence fence(DataSource dataSource, String table, Function<LockHandle, String> id,
			Predicate<LockHandle> own) {
		return new TransactionFence(new JdbcFencingGuard(dataSource, table, id), dataSource, Object::toString,
				(method, type) -> null, own, (refusal) -> {
				});
	}

	/** A fence and the transactions of its data source. */
	private static final class Fenced {

		private final JdbcTemplate jdbc;

		private final TransactionTemplate transaction;

		Fenced(String url) {
			DataSource dataSource = new DriverManagerDataSource(url);
			TestFence.clear(dataSource);
			this.jdbc = new JdbcTemplate(dataSource);
			TransactionFence fence = TestFence.of(dataSource);
			DataSourceTransactionManager manager = TestFence.manager(dataSource, fence);
			this.transaction = new TransactionTemplate(manager);
		}

	}

}
